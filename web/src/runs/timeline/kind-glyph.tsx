// A shape for each kind of row, so that nobody needs to tell colours apart.

import type { VNode } from "preact";
import type { RowKind } from "../model/run-tree.ts";
import styles from "./kind-glyph.module.css";

const SHAPES: Readonly<Record<RowKind, string>> = {
  node: "M8 1.5 14.5 8 8 14.5 1.5 8Z",
  step: "M3 4h10M3 8h10M3 12h6",
  model: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11Z",
  code: "M2.5 4l4 4-4 4M8.5 12.5h5",
  tool: "M8 2.5 14 13H2Z",
  batch: "M2 3.5h8v6H2ZM6 12.5h8v-6",
};
const FILLED: readonly RowKind[] = ["node", "model", "tool"];

export function KindGlyph({ kind }: { readonly kind: RowKind }): VNode {
  const isFilled = FILLED.includes(kind);
  return (
    <svg class={`${styles["glyph"]} ${styles[kind]}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[kind]} class={isFilled ? styles["filled"] : styles["drawn"]} />
    </svg>
  );
}
