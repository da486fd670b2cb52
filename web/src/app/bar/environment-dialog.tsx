// What is known about where code runs: the environment, what it stops and what not, and what it can do.

import type { ComponentChildren, VNode } from "preact";
import type { RuntimeInfo } from "rlm-runtime/client";
import { Icon } from "../../parts/icon.tsx";
import { Dialog } from "../../parts/overlay/dialog.tsx";
import styles from "./environment-dialog.module.css";
import { describeIsolation } from "./isolation.ts";

interface EnvironmentDialogProps {
  readonly info: RuntimeInfo;
  readonly onClose: () => void;
}

export default function EnvironmentDialog({ info, onClose }: EnvironmentDialogProps): VNode {
  const { name, isWeak } = describeIsolation(info);
  const { strongerTier, notStopped, capabilities: can } = info;
  return (
    <Dialog title="Where code runs" isWide onClose={onClose}>
      <dl class={styles["facts"]}>
        <Fact name="Environment">{name}</Fact>
        <Fact name="Network">{NETWORK[can.network]}</Fact>
        <Fact name="Can do">{listAbilities(can).join(", ")}</Fact>
        <Fact name="Versions">
          RLM Runtime {info.version}, Node {info.node}
          {info.python !== null && `, Python ${info.python}`}
        </Fact>
      </dl>
      {info.tier === null && <p class={styles["quiet"]}>How sessions are isolated is known once one was opened.</p>}
      {isWeak && (
        <section class={styles["weak"]}>
          <h3>
            <Icon name="warning" /> Not stopped here
          </h3>
          <ul>
            {notStopped.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        </section>
      )}
      {strongerTier !== null && (
        <section>
          <h3>How to get stronger isolation</h3>
          <p>{strongerTier.why}</p>
          <p>{strongerTier.fix}</p>
        </section>
      )}
    </Dialog>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

type Capabilities = RuntimeInfo["capabilities"];

const NETWORK: Readonly<Record<Capabilities["network"], string>> = {
  none: "None",
  filtered: "Only to hosts that a session is allowed, through a proxy",
  all: "Sessions can be allowed all of it",
};

function listAbilities(can: Capabilities): string[] {
  const names = {
    fork: "fork sessions",
    checkpoint: "checkpoint and rewind",
    shell: "shell tasks",
    processes: "start processes",
    threads: "threads",
    watch: "follow changes of files",
    inspectWhileRunning: "inspect while code runs",
  } as const;
  const keys = Object.keys(names) as (keyof typeof names)[];
  return keys.filter((key) => can[key]).map((key) => names[key]);
}
