// Suggests the known word that is closest to a misspelt one.

/** Undefined: none is close. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const wanted = normalize(word);
  const [best] = known
    .map((name) => ({ name, edits: editsBetween(wanted, normalize(name)) }))
    .filter(({ edits }) => edits <= Math.max(1, Math.floor(wanted.length / 3)))
    .toSorted((a, b) => a.edits - b.edits);
  return best?.name;
}

/** `maxDepth`, `max-depth` and `MAX_DEPTH` count as equal. */
function normalize(word: string): string {
  return word
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[-_. ]/g, "");
}

/** The Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours. */
function editsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min(at(rows, i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(rows, i - 1, j - 1) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, at(rows, i - 2, j - 2) + 1);
      }
      row.push(edits);
    }
    rows.push(row);
  }
  return at(rows, a.length, b.length);
}

function at(rows: readonly (readonly number[])[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}
