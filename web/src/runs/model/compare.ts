// Two runs side by side: their rows aligned by where they are in the tree, and where the runs part.
//
// Rows correspond if they have the same place: the node by the step and the order in which its parent started it, the step by its number,
// and what a step did by its kind and order. They are the same if what they say and everything inside says the same, as far as the
// outline has it: the first words of questions, replies, code and output. Times and tokens may differ.

import { oneLine, textOf, troubleOf } from "./row-text.ts";
import type { RunRow } from "./run-tree.ts";

/** `inside`: the row itself says the same, and something below it does not. */
export type Likeness = "same" | "inside" | "different" | "only-left" | "only-right";

export interface ComparedRow {
  /** The place that both have in common. */
  readonly place: string;
  readonly level: number;
  readonly left: RunRow | null;
  readonly right: RunRow | null;
  readonly likeness: Likeness;
  /** What differs where the shown texts are the same, of either side: as in an answer, or what code printed. Null: the texts say it. */
  readonly details: { readonly left: string; readonly right: string } | null;
}

/** A row, or rows that are the same in both runs and folded. */
export type CompareLine =
  | { readonly kind: "row"; readonly row: ComparedRow }
  | { readonly kind: "same"; readonly place: string; readonly rows: readonly ComparedRow[] };

/** Fewer rows are not worth folding. */
const MIN_FOLD = 3;

export function alignRuns(left: RunRow | undefined, right: RunRow | undefined): readonly ComparedRow[] {
  const rows: ComparedRow[] = [];
  align(left ?? null, right ?? null, "n0", 1, rows);
  return rows;
}

/** Whether the row itself differs. */
export function isDifference({ likeness }: ComparedRow): boolean {
  return likeness !== "same" && likeness !== "inside";
}

/** Where they part first. Undefined: nowhere. */
export function firstDifference(rows: readonly ComparedRow[]): ComparedRow | undefined {
  const different = rows.filter((row) => isDifference(row));
  return different.find(({ left, right }) => !isOutcome(left, right)) ?? different[0];
}

/** It differs because of what it did, and that has rows of its own. */
function isOutcome(left: RunRow | null, right: RunRow | null): boolean {
  if (left === null || right === null) return false;
  const { node, span } = left;
  if (node !== null) return node.query === right.node?.query && node.model === right.node.model && hasRows(left, right);
  // Steps and batches show the words of what is in them.
  if (span === null) return hasRows(left, right);
  return span.kind === "code" && span.name === right.span?.name && (startsMore(left) || startsMore(right));
}

function hasRows(left: RunRow, right: RunRow): boolean {
  return left.children.length > 0 && right.children.length > 0;
}

/** Whether the step of the code has more than its model call and the code. */
function startsMore({ parent }: RunRow): boolean {
  return (parent?.children.length ?? 0) > 2;
}

export function foldSame(rows: readonly ComparedRow[], unfolded: ReadonlySet<string>): readonly CompareLine[] {
  const lines: CompareLine[] = [];
  for (let start = 0; start < rows.length;) {
    let end = start;
    while (end < rows.length && rows[end]?.likeness === "same") end += 1;
    const same = rows.slice(start, end);
    const place = same[0]?.place ?? "";
    if (same.length >= MIN_FOLD && !unfolded.has(place)) lines.push({ kind: "same", place, rows: same });
    else lines.push(...same.map((row) => ({ kind: "row", row }) as const));
    const next = rows[end];
    if (next !== undefined) lines.push({ kind: "row", row: next });
    start = end + 1;
  }
  return lines;
}

/** Returns whether anything differs in the row or below it. */
function align(left: RunRow | null, right: RunRow | null, place: string, level: number, rows: ComparedRow[]): boolean {
  if (left === null && right === null) return false;
  const own = likenessOf(left, right);
  const index = rows.push({ place, level, left, right, likeness: own, details: detailsOf(left, right, own) }) - 1;
  const [ofLeft, ofRight] = [byPlace(left), byPlace(right)];
  let differsInside = false;
  for (const key of new Set([...ofLeft.keys(), ...ofRight.keys()])) {
    const [childOfLeft, childOfRight] = [ofLeft.get(key) ?? null, ofRight.get(key) ?? null];
    if (align(childOfLeft, childOfRight, `${place}/${key}`, level + 1, rows)) differsInside = true;
  }
  const row = rows[index];
  if (own === "same" && differsInside && row !== undefined) rows[index] = { ...row, likeness: "inside" };
  return own !== "same" || differsInside;
}

/** The children by their place under the parent. */
function byPlace(row: RunRow | null): ReadonlyMap<string, RunRow> {
  const places = new Map<string, RunRow>();
  const counts = new Map<string, number>();
  for (const child of row?.children ?? []) {
    const kind = child.kind === "step" ? `step-${child.step ?? 0}` : child.kind;
    const count = (child.span ?? child.node)?.batch?.ordinal ?? (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    places.set(child.kind === "step" ? kind : `${kind}-${count}`, child);
  }
  return places;
}

function likenessOf(left: RunRow | null, right: RunRow | null): Likeness {
  if (left === null) return "only-right";
  if (right === null) return "only-left";
  return left.kind === right.kind && saysTheSame(left, right) ? "same" : "different";
}

function saysTheSame(left: RunRow, right: RunRow): boolean {
  const [a, b] = [left.node ?? left.span, right.node ?? right.span];
  if (a === null || b === null) {
    // A step or a batch has nothing of its own, but shows the words of what is in it.
    return a === b && left.size === right.size && textOf(left) === textOf(right);
  }
  if ("query" in a && "query" in b) return NODE_FIELDS.every((field) => a[field] === b[field]);
  return "head" in a && "head" in b && a.name === b.name && a.head === b.head && left.isOk === right.isOk;
}

const NODE_FIELDS = ["query", "isDegraded", "model", "status", "answer"] as const;

function detailsOf(left: RunRow | null, right: RunRow | null, likeness: Likeness): ComparedRow["details"] {
  if (left === null || right === null || likeness !== "different") return null;
  if (oneLine(textOf(left)) !== oneLine(textOf(right))) return null;
  const [ofLeft, ofRight] = [detailsIn(left), detailsIn(right)];
  const index = ofLeft.findIndex((detail, at) => detail !== ofRight[at]);
  return index < 0 ? null : { left: ofLeft[index] ?? "", right: ofRight[index] ?? "" };
}

/** What the text of a row leaves out, the most telling first. */
function detailsIn(row: RunRow): readonly string[] {
  const { node, span } = row;
  if (node !== null) return [node.answer ?? "no answer", node.status ?? "running", node.model];
  if (span === null) return [];
  const printed = span.kind === "code" ? oneLine(span.head) || "no output" : oneLine(span.head);
  return [printed, troubleOf(row) ?? "", span.name];
}
