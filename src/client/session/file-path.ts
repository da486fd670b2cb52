// Paths of session files in addresses.
//
// Addresses are normalized on their way: `.` and `..` vanish, also in their encoded form, and so may empty segments. In a path that has such
// segments, the slashes are encoded, too: the whole path is then one segment, which nobody changes, and the server decodes it.

import { percentEncode } from "../net/ids.ts";

/** Throws a RangeError for a path that is not valid text. */
export function toFilePath(path: string): string {
  const parts = path.split("/");
  const isPlain = parts.every((part, index) => !isSpecial(part) || (part === "" && index === parts.length - 1));
  if (isPlain) return parts.map(percentEncode).join("/");
  // A single `.` or `..` would be such a segment itself.
  return percentEncode(parts.length === 1 ? `./${path}` : path);
}

function isSpecial(part: string): boolean {
  return part === "" || part === "." || part === "..";
}
