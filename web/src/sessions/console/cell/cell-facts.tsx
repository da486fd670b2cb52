// How an execution goes: its state where it is not the usual one, its time, and the memory it needed.

import type { VNode } from "preact";
import { Age } from "../../../parts/feedback/age.tsx";
import { Status } from "../../../parts/feedback/status.tsx";
import { formatBytes, formatDuration } from "../../../parts/format.ts";
import type { Cell } from "../../../state/sessions/console/cell.ts";
import styles from "./cell-facts.module.css";

export function CellFacts({ cell }: { readonly cell: Cell }): VNode {
  const { state, startedAt, durationMs, result, input } = cell;
  const word = state === "running" && input !== null ? "waits for input" : WORDS[state];
  return (
    <span class={`figures ${styles["facts"]}`}>
      {state !== "ok" && <Status state={SHAPES[state] ?? state} word={word} />}
      {state === "running" && startedAt !== null && <Age since={startedAt} as="time" />}
      {result !== null && result.usage.peakMemoryBytes > 0 && (
        <span class={styles["memory"]} title="Peak memory of the worker so far">
          {formatBytes(result.usage.peakMemoryBytes)}
        </span>
      )}
      {durationMs !== null && <span title="Running time">{formatDuration(durationMs)}</span>}
    </span>
  );
}

const SHAPES: Partial<Record<Cell["state"], string>> = { refused: "failed", lost: "failed" };
const WORDS: Partial<Record<Cell["state"], string>> = { refused: "not run", lost: "lost", exit: "exit" };
