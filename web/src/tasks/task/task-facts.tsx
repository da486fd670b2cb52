// The state of a task and what it used, in one line that wraps.

import type { ComponentChildren, VNode } from "preact";
import type { TaskInfo } from "rlm-runtime/client";
import { Age } from "../../parts/feedback/age.tsx";
import { formatBytes, formatDuration } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { TaskStatus } from "../task-status.tsx";
import styles from "./task-facts.module.css";
import { SessionLink } from "../list/task-table.tsx";

export function TaskFacts({ info }: { readonly info: TaskInfo }): VNode {
  const { exitCode, why, sessionId, startedAt, durationMs, usage, outputBytes, background, kind, id } = info;
  return (
    <dl class={styles["facts"]}>
      <Fact name="Status">
        <TaskStatus task={info} />
        {background && <span class={styles["note"]}> · processes in the background</span>}
      </Fact>
      {exitCode !== null && <Fact name="Exit code">{exitCode}</Fact>}
      {why !== null && <Fact name="Why">{toSafeText(why, { maxCharacters: 300 })}</Fact>}
      <Fact name="Time">{formatDuration(durationMs)}</Fact>
      <Fact name="Started">
        <Age since={startedAt} suffix=" ago" />
      </Fact>
      {sessionId !== null && (
        <Fact name="Session">
          <SessionLink id={sessionId} />
        </Fact>
      )}
      <Fact name="CPU">{formatDuration(usage.cpuMs)}</Fact>
      {usage.peakMemoryBytes > 0 && <Fact name="Peak memory">{formatBytes(usage.peakMemoryBytes)}</Fact>}
      <Fact name="Output">{formatBytes(outputBytes)}</Fact>
      {kind !== "shell" && <Fact name="Kind">{kind}</Fact>}
      <Fact name="Id">
        <code>{toSafeText(id, { maxCharacters: 40 })}</code>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div class={styles["fact"]}>
      <dt>{name}</dt>
      <dd class="figures">{children}</dd>
    </div>
  );
}
