/** The first characters of a text. Copied if it is longer: a slice would keep the whole text in memory. */
export function detachedPrefix(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : Buffer.from(text.slice(0, maxLength), "utf16le").toString("utf16le");
}
