// Tokens and cost by node and by model: a table whose bars show the shares.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { formatCost, formatCount } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { sharesByModel, sharesByNode, type Measure, type Share } from "../model/usage-shares.ts";
import { oneLine } from "../model/row-text.ts";
import { RowLink } from "../transcript/row-link.tsx";
import { useRun } from "../run-context.ts";
import styles from "./usage.module.css";

const MEASURES: readonly { readonly measure: Measure; readonly name: string }[] = [
  { measure: "tokens", name: "Tokens" },
  { measure: "cost", name: "Cost" },
];

export function Usage(): VNode | null {
  const outline = useRun().outline.value;
  const [measure, setMeasure] = useState<Measure>("tokens");
  const byModel = useMemo(() => outline && sharesByModel(outline, measure), [outline, measure]);
  const byNode = useMemo(() => outline && sharesByNode(outline, measure), [outline, measure]);
  if (byModel === undefined || byNode === undefined) return null;
  return (
    <section class={styles["usage"]} aria-label="Usage">
      <div class={styles["bar"]}>
        <div role="group" aria-label="What the bars show" class={styles["measures"]}>
          {MEASURES.map((one) => (
            <button
              key={one.measure}
              type="button"
              aria-pressed={one.measure === measure}
              onClick={() => setMeasure(one.measure)}
            >
              {one.name}
            </button>
          ))}
        </div>
        {measure === "tokens" && (
          <p class={styles["legend"]}>
            <i class={styles["in"]} /> input <i class={styles["out"]} /> output
          </p>
        )}
      </div>
      <Shares title="By model" shares={byModel} measure={measure} isNodes={false} />
      <Shares title="By node, its own calls" shares={byNode} measure={measure} isNodes />
    </section>
  );
}

interface SharesProps {
  readonly title: string;
  readonly shares: readonly Share[];
  readonly measure: Measure;
  readonly isNodes: boolean;
}

function Shares({ title, shares, measure, isNodes }: SharesProps): VNode {
  // The rest is many together: it has no bar beside those of single ones.
  const most = Math.max(1e-9, ...shares.filter(({ id }) => id !== null).map(({ fraction }) => fraction));
  return (
    <table class={styles["shares"]}>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{isNodes ? "Node" : "Model"}</th>
          <th scope="col" class={styles["barColumn"]}>
            {measure === "tokens" ? "Tokens" : "Cost"}
          </th>
          <th scope="col" class={styles["number"]}>
            In
          </th>
          <th scope="col" class={styles["number"]}>
            Out
          </th>
          <th scope="col" class={styles["number"]}>
            Share
          </th>
          <th scope="col" class={styles["number"]}>
            Calls
          </th>
          <th scope="col" class={styles["number"]}>
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {shares.map((share) => (
          <tr key={share.id ?? "rest"}>
            <th scope="row" class={styles["name"]} title={toSafeText(share.label)}>
              {isNodes && share.id !== null ? (
                <RowLink id={share.id}>{toSafeText(share.id)}</RowLink>
              ) : (
                toSafeText(share.label)
              )}
              {isNodes && share.id !== null && <span class={styles["query"]}>{toSafeText(oneLine(share.label))}</span>}
            </th>
            <td class={styles["barColumn"]} aria-hidden="true">
              {share.id !== null && <ShareBar share={share} measure={measure} most={most} />}
            </td>
            <td class={styles["number"]}>{formatCount(share.inputTokens)}</td>
            <td class={styles["number"]}>{formatCount(share.outputTokens)}</td>
            <td class={styles["number"]}>{`${(share.fraction * 100).toFixed(share.fraction < 0.1 ? 1 : 0)} %`}</td>
            <td class={styles["number"]}>{formatCount(share.calls)}</td>
            <td class={styles["number"]}>{formatCost(share.costUsd)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ShareBarProps {
  readonly share: Share;
  readonly measure: Measure;
  /** The largest fraction that has a bar. */
  readonly most: number;
}

function ShareBar({ share, measure, most }: ShareBarProps): VNode {
  const { inputTokens, outputTokens, fraction } = share;
  const width = (fraction / most) * 100;
  const ofInput = inputTokens / Math.max(1, inputTokens + outputTokens);
  if (measure === "cost") {
    return (
      <span class={styles["shareBar"]}>
        <span class={styles["cost"]} style={{ width: `${width}%` }} />
      </span>
    );
  }
  return (
    <span class={styles["shareBar"]}>
      <span class={styles["in"]} style={{ width: `${width * ofInput}%` }} />
      <span class={styles["out"]} style={{ width: `${width * (1 - ofInput)}%` }} />
    </span>
  );
}
