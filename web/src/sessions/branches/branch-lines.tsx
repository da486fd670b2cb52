// The lines and dots of the tree. What they mean is in the rows beside them.

import type { VNode } from "preact";
import type { PlacedNode } from "../../state/sessions/branch-tree.ts";
import styles from "./branch-lines.module.css";

export const ROW_PX = 36;
export const COLUMN_PX = 16;

interface BranchLinesProps {
  readonly nodes: readonly PlacedNode[];
  readonly columns: number;
}

export function BranchLines({ nodes, columns }: BranchLinesProps): VNode {
  const x = (column: number): number => Math.min(column, columns - 1) * COLUMN_PX + COLUMN_PX / 2;
  const y = (row: number): number => row * ROW_PX + ROW_PX / 2;
  return (
    <svg class={styles["lines"]} width={columns * COLUMN_PX} height={nodes.length * ROW_PX} aria-hidden="true">
      {nodes.map(({ node, row, column, parent }) => {
        if (parent === undefined) return null;
        const [left, top, toLeft, toTop] = [x(column), y(row), x(parent.column), y(parent.row)];
        // Down its own column, and into the parent's at the end.
        const bend = toTop - ROW_PX / 2;
        const path =
          left === toLeft
            ? `M${left} ${top}V${toTop}`
            : `M${left} ${top}V${bend - 6}C${left} ${toTop - 4} ${toLeft} ${bend} ${toLeft} ${toTop}`;
        return (
          <path
            key={node.key}
            d={path}
            class={node.kind === "left" ? styles["gone"] : column === 0 ? styles["main"] : styles["side"]}
          />
        );
      })}
      {nodes.map(({ node, row, column }) => {
        const [left, top] = [x(column), y(row)];
        if (node.kind === "fork")
          return <rect key={node.key} class={styles["fork"]} x={left - 4} y={top - 4} width="8" height="8" rx="1.5" />;
        return (
          <circle key={node.key} class={styles[node.kind]} cx={left} cy={top} r={node.kind === "present" ? 5.5 : 4} />
        );
      })}
    </svg>
  );
}
