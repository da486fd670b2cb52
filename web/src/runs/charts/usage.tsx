// Tokens and cost by node, by model and by role: a table whose bars show the shares.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { formatCost, formatCount } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { sharesByModel, sharesByNode, sharesByRole, type Measure, type Share } from "../model/usage-shares.ts";
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
  const byRole = useMemo(() => outline && sharesByRole(outline, measure), [outline, measure]);
  const byNode = useMemo(() => outline && sharesByNode(outline, measure), [outline, measure]);
  if (byModel === undefined || byRole === undefined || byNode === undefined) return null;
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
      <Shares title="By model" of="Model" shares={byModel} measure={measure} />
      {byRole.length > 1 && <Shares title="By role" of="Role" shares={byRole} measure={measure} />}
      <Shares title="By node, its own calls" of="Node" shares={byNode} measure={measure} />
    </section>
  );
}

interface SharesProps {
  readonly title: string;
  /** What a row is. */
  readonly of: "Model" | "Role" | "Node";
  readonly shares: readonly Share[];
  readonly measure: Measure;
}

function Shares({ title, of, shares, measure }: SharesProps): VNode {
  const isNodes = of === "Node";
  // The rest is many together: it has no bar beside those of single ones.
  const most = Math.max(1e-9, ...shares.filter(({ id }) => id !== null).map(({ fraction }) => fraction));
  return (
    <table class={styles["shares"]}>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{of}</th>
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
