// How many bytes a text takes as UTF-8.

export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
