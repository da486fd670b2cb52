// A link to a row: it is selected everywhere, and has an address of its own.

import type { ComponentChildren, VNode } from "preact";
import { formatCost, formatCount, formatDuration } from "../../parts/format.ts";
import { firstWords, wordOf } from "../model/row-text.ts";
import type { RunRow } from "../model/run-tree.ts";
import { costOf, tokensOf } from "../model/sums.ts";
import { useShownRun } from "../run-context.ts";
import { KindGlyph } from "../timeline/kind-glyph.tsx";
import styles from "./transcript.module.css";

interface RowLinkProps {
  readonly id: string;
  readonly class?: string | undefined;
  readonly children: ComponentChildren;
}

export function RowLink({ id, class: className, children }: RowLinkProps): VNode {
  const { run, hrefOf } = useShownRun();
  const select = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    run.read(id);
  };
  return (
    <a href={hrefOf(id)} class={className} onClick={select}>
      {children}
    </a>
  );
}

const MAX_LINKS = 100;

export function RowLinks({ rows }: { readonly rows: readonly RunRow[] }): VNode {
  return (
    <ul class={styles["links"]}>
      {rows.slice(0, MAX_LINKS).map((row) => (
        <li key={row.id}>
          <RowLink id={row.id} class={styles["link"]}>
            <KindGlyph kind={row.kind} />
            <span class={styles["linkWord"]}>{wordOf(row)}</span>
            <span class={styles["linkWords"]}>{firstWords(row)}</span>
            <span class={styles["linkFacts"]}>{factsOf(row)}</span>
          </RowLink>
        </li>
      ))}
      {rows.length > MAX_LINKS && <li class={styles["cut"]}>{`${rows.length - MAX_LINKS} more are in the table`}</li>}
    </ul>
  );
}

function factsOf({ sums, startedAt, endedAt }: RunRow): string {
  const tokens = tokensOf(sums);
  const cost = costOf(sums);
  return [
    tokens > 0 ? formatCount(tokens) : "",
    cost !== null && cost > 0 ? formatCost(cost) : "",
    endedAt === null ? "running" : formatDuration(endedAt - startedAt),
  ]
    .filter(Boolean)
    .join(" · ");
}
