// The question and the answer first; then what the run used, and how near it came to its limits.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Status } from "../../parts/feedback/status.tsx";
import { formatCost, formatCount, formatDuration } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { isEmptyText, stringIn, toRunText } from "../../state/runs/run-text.ts";
import type { RunOutline } from "../../state/runs/run-source.ts";
import { useLoaded } from "../../state/runs/use-loaded.ts";
import { useRun } from "../run-context.ts";
import { AXIS_NAMES, formatAmount, stoppedBy } from "../model/limit-text.ts";
import { costOf, NO_SUMS, tokensOf, type Sums } from "../model/sums.ts";
import { TextBody } from "../transcript/text-body.tsx";
import { Clamped } from "./clamped.tsx";
import styles from "./run-header.module.css";

type ShownStatus = "running" | "final" | "partial" | "failed" | "cancelled" | "broken";

export function RunHeader(): VNode | null {
  const run = useRun();
  const outline = run.outline.value;
  const [showsLimits, setShowsLimits] = useState(false);
  if (outline === undefined) return null;
  const sums = run.root?.sums ?? NO_SUMS;
  const root = outline.nodes[0];
  const status: ShownStatus = run.isBroken.value ? "broken" : (root?.status ?? "running");
  const elapsed = (outline.endedAt ?? run.now.value) - outline.startedAt;
  const cost = costOf(sums);
  const stopped = stoppedBy(root?.stopReason ?? null);
  return (
    <header class={styles["header"]}>
      <div class={styles["said"]}>
        <Question />
        <Answer status={status} />
      </div>
      <div class={styles["used"]}>
        <p class={styles["facts"]}>
          <Status state={status} />
          <span class={styles["models"]}>{toSafeText(modelsOf(outline))}</span>
          {stopped !== undefined && <span>{stopped}</span>}
          {Object.keys(outline.limits).length > 0 && (
            <button
              type="button"
              class={styles["limits"]}
              aria-expanded={showsLimits}
              onClick={() => setShowsLimits(!showsLimits)}
            >
              Limits
            </button>
          )}
        </p>
        <dl class={styles["figures"]}>
          <Figure name="Time" value={formatDuration(elapsed)} />
          <Figure
            name="Tokens"
            value={formatCount(tokensOf(sums))}
            title={`${formatCount(sums.inputTokens)} in, ${formatCount(sums.outputTokens)} out`}
          />
          <Figure
            name="Cost"
            value={formatCost(cost)}
            {...(cost === null && { title: "The price of a model is not known" })}
          />
          <Figure name="Model calls" value={formatCount(sums.modelCalls)} />
          <Figure name="Nodes" value={formatCount(outline.nodes.length)} />
        </dl>
        <div class={showsLimits ? "" : styles["folded"]}>
          <Meters outline={outline} sums={sums} elapsedMs={elapsed} />
        </div>
        {outline.omitted > 0 && (
          <p
            class={styles["note"]}
          >{`${formatCount(outline.omitted)} nodes and calls are left out: there are too many`}</p>
        )}
        {outline.lostLines > 0 && (
          <p class={styles["note"]}>{`${outline.lostLines} lines of the record are damaged and left out`}</p>
        )}
      </div>
    </header>
  );
}

function Question(): VNode {
  const run = useRun();
  const root = run.outline.value?.nodes[0];
  const start = useLoaded(
    async () => (root === undefined ? undefined : run.texts.event(root.firstSeq)),
    [root?.firstSeq],
  );
  // The outline has the first characters only. A question that is stored apart is whole in the transcript.
  const head = run.outline.value?.query ?? "";
  const loaded = toRunText(start.state === "loaded" ? start.value?.["query"] : undefined);
  const query = isEmptyText(loaded) ? head : loaded.kind === "whole" ? loaded.text : `${loaded.head}…`;
  return (
    <div>
      <Clamped>
        <h1 class={styles["question"]}>{toSafeText(query, { hasLines: true })}</h1>
      </Clamped>
    </div>
  );
}

function Answer({ status }: { readonly status: ShownStatus }): VNode {
  const run = useRun();
  const outline = run.outline.value;
  const ending = useLoaded(
    async () => (outline === undefined ? null : run.texts.end(outline)),
    [outline?.endedAt, outline?.endedAt === null ? 0 : outline?.seq],
  );
  const result = ending.state === "loaded" ? ending.value?.["result"] : undefined;
  const loaded = toRunText((result as { readonly answer?: unknown } | undefined)?.answer);
  const head = outline?.nodes[0]?.answer ?? null;
  const text = isEmptyText(loaded) ? toRunText(head) : loaded;
  const why = stringIn(result, "why");
  if (isEmptyText(text))
    return (
      <p class={styles[status === "failed" || status === "broken" ? "failure" : "noAnswer"]}>
        {toSafeText(whyNone(status, why))}
      </p>
    );
  return (
    <div class={styles["answerBox"]}>
      <h2 class="unseen">Answer</h2>
      <Clamped hasBlocks>
        <div class={styles["answer"]}>
          <TextBody text={text} />
        </div>
      </Clamped>
      {why !== "" && <p class={styles["why"]}>{toSafeText(why)}</p>}
    </div>
  );
}

function whyNone(status: ShownStatus, why: string): string {
  if (why !== "") return why.charAt(0).toUpperCase() + why.slice(1);
  if (status === "running") return "No answer yet";
  if (status === "cancelled") return "It was cancelled before it had an answer";
  return status === "broken" ? "Its process ended before it had an answer" : "It has no answer";
}

function Figure(of: { readonly name: string; readonly value: string; readonly title?: string }): VNode {
  const { name, value, title } = of;
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface MetersProps {
  readonly outline: RunOutline;
  readonly sums: Sums;
  readonly elapsedMs: number;
}

function Meters({ outline, sums, elapsedMs }: MetersProps): VNode | null {
  const used: Readonly<Record<keyof typeof AXIS_NAMES, number>> = {
    tokens: tokensOf(sums),
    costUsd: sums.pricedUsd,
    llmCalls: sums.modelCalls,
    toolCalls: sums.toolCalls,
    wallMs: elapsedMs,
    iterations: outline.nodes.reduce((sum, { steps }) => sum + steps, 0),
  };
  const axes = (Object.keys(AXIS_NAMES) as (keyof typeof AXIS_NAMES)[]).flatMap((axis) => {
    const limit = outline.limits[axis];
    return limit === undefined ? [] : [{ axis, limit, amount: used[axis] }];
  });
  if (axes.length === 0) return null;
  return (
    <ul class={styles["meters"]} aria-label="Limits">
      {axes.map(({ axis, limit, amount }) => {
        const fraction = Math.min(1, amount / Math.max(limit, 1e-9));
        const isReached = outline.marks.some((mark) => mark.axis === axis && mark.kind === "limit-reached");
        const tone = isReached ? "reached" : fraction >= 0.8 ? "near" : "plain";
        return (
          <li key={axis}>
            <span>{AXIS_NAMES[axis]}</span>
            <span class={styles["meter"]} aria-hidden="true">
              <span class={`${styles["level"]} ${styles[tone]}`} style={{ width: `${fraction * 100}%` }} />
            </span>
            <span class={styles["amount"]}>
              {`${formatAmount(axis, amount)} of ${formatAmount(axis, limit)}${isReached ? ", reached" : ""}`}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function modelsOf({ model, subModel }: RunOutline): string {
  return model === subModel ? model : `${model}, ${subModel}`;
}
