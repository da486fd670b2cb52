// Runs as rows: the question first, then how it went and what it took.

import type { VNode } from "preact";
import { Age } from "../../parts/feedback/age.tsx";
import { Status } from "../../parts/feedback/status.tsx";
import { formatCost, formatCount, formatDuration } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import type { RunInfo } from "../../state/runs/run-list.ts";
import styles from "./run-table.module.css";

interface RunTableProps {
  readonly runs: readonly RunInfo[];
  readonly chosen: readonly string[];
  onChoose(id: string, isChosen: boolean): void;
}

export function RunTable({ runs, chosen, onChoose }: RunTableProps): VNode {
  return (
    <table class={styles["table"]}>
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Compare</span>
          </th>
          <th scope="col">Question</th>
          <th scope="col">Status</th>
          <th scope="col" class={styles["model"]}>
            Model
          </th>
          <th scope="col" class={styles["number"]}>
            Tokens
          </th>
          <th scope="col" class={styles["number"]}>
            Cost
          </th>
          <th scope="col" class={styles["number"]}>
            Time
          </th>
          <th scope="col" class={styles["number"]}>
            Started
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <OneRun key={run.id} run={run} isChosen={chosen.includes(run.id)} onChoose={onChoose} />
        ))}
      </tbody>
    </table>
  );
}

interface OneRunProps extends Pick<RunTableProps, "onChoose"> {
  readonly run: RunInfo;
  readonly isChosen: boolean;
}

function OneRun({ run, isChosen, onChoose }: OneRunProps): VNode {
  const { router } = usePage();
  const { id, query, status, model, usage, wallMs, startedAt } = run;
  const route = { place: "runs", path: [id] } as const;
  const question = toSafeText(query, { maxCharacters: 400 }) || id;
  const open = (event: MouseEvent): void => {
    const isControl = event.target instanceof Element && event.target.closest("a, input, label") !== null;
    if (!isControl) router.go(route);
  };
  return (
    <tr class={isChosen ? styles["chosen"] : ""} onClick={open}>
      <td class={styles["choice"]}>
        <label>
          <input
            type="checkbox"
            aria-label={`Compare: ${question}`}
            checked={isChosen}
            onChange={({ currentTarget }) => onChoose(id, currentTarget.checked)}
          />
        </label>
      </td>
      <td class={styles["question"]}>
        <a href={toAddress(route)} title={question}>
          {question}
        </a>
      </td>
      <td class={styles["status"]}>
        <Status state={status} />
      </td>
      <td class={styles["model"]}>{toSafeText(model, { maxCharacters: 60 })}</td>
      <td class={styles["number"]}>{usage === null ? "–" : formatCount(usage.tokens)}</td>
      <td class={styles["number"]}>{usage === null ? "–" : formatCost(usage.costUsd)}</td>
      <td class={styles["number"]}>
        {wallMs !== null ? formatDuration(wallMs) : status === "running" ? <Age since={startedAt} as="time" /> : "–"}
      </td>
      <td class={styles["number"]}>
        <Age since={startedAt} suffix=" ago" />
      </td>
    </tr>
  );
}
