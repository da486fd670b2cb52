/** The text, or its beginning and an ellipsis: never longer than `maxCharacters`, and without half of a surrogate pair. */
export function shorten(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
