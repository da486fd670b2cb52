// Which rows are shown: those whose ancestors are all unfolded.

import type { RunRow } from "./run-tree.ts";

/** What the reader folded and unfolded, by the id of the row. Other rows are as they are at first. */
export type Folds = ReadonlyMap<string, boolean>;

export function isFolded({ id, isFoldedAtFirst, children }: RunRow, folds: Folds): boolean {
  return children.length > 0 && (folds.get(id) ?? isFoldedAtFirst);
}

/** In the order of the page. */
export function visibleRows(root: RunRow | undefined, folds: Folds): readonly RunRow[] {
  const visible: RunRow[] = [];
  const open = root === undefined ? [] : [root];
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    visible.push(row);
    if (isFolded(row, folds)) continue;
    for (let index = row.children.length - 1; index >= 0; index -= 1) {
      const child = row.children[index];
      if (child !== undefined) open.push(child);
    }
  }
  return visible;
}

/** With everything above the row unfolded. */
export function revealed(row: RunRow, folds: Folds): Folds {
  const next = new Map(folds);
  for (let at = row.parent; at !== null; at = at.parent) if (isFolded(at, folds)) next.set(at.id, false);
  return next.size === folds.size && [...next].every(([id, fold]) => folds.get(id) === fold) ? folds : next;
}

/** The row itself, or the ancestor in which it is folded away. */
export function shownFor(row: RunRow, folds: Folds): RunRow {
  let shown = row;
  for (let at = row.parent; at !== null; at = at.parent) if (isFolded(at, folds)) shown = at;
  return shown;
}
