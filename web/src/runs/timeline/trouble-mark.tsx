// What went wrong with a row, in the colour that this status has everywhere.

import type { VNode } from "preact";
import { troubleOf } from "../model/row-text.ts";
import type { RunRow } from "../model/run-tree.ts";
import styles from "./trouble-mark.module.css";

/** All others are errors. */
const TONES: Readonly<Record<string, "wait" | "quiet">> = { partial: "wait", cancelled: "quiet" };

export function TroubleMark({ row }: { readonly row: RunRow }): VNode | null {
  const trouble = troubleOf(row);
  if (trouble === undefined) return null;
  return <span class={`${styles["trouble"]} ${styles[TONES[trouble] ?? "error"]}`}>{trouble}</span>;
}
