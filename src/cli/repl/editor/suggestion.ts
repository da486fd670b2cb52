// Suggestions from the history: the rest of the newest entry that begins with the text.

/** A word as Alt-F moves: what is before it, and its letters. */
const WORD = /^[^\p{L}\p{M}\p{N}_]*[\p{L}\p{M}\p{N}_]*/u;

/** The rest of a line, at least one character. Undefined: no entry continues this line. */
export function findSuggestion(history: readonly string[], text: string): string | undefined {
  if (text.trim() === "") return undefined;
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const entry = history[index] ?? "";
    if (entry.length <= text.length || !entry.startsWith(text)) continue;
    const end = entry.indexOf("\n", text.length);
    const rest = entry.slice(text.length, end === -1 ? undefined : end);
    // A mark would combine with the character before the cursor.
    if (rest !== "" && !/^\p{M}/u.test(rest)) return rest;
  }
  return undefined;
}

export function firstWord(suggestion: string): string {
  return WORD.exec(suggestion)?.[0] || suggestion;
}
