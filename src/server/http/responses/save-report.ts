// The report of a save as a header value: compact JSON in ASCII of limited size.

import type { SaveReport } from "../../../protocol/session-manifest.ts";

const MAX_CHARACTERS = 4000;
const MAX_WHY = 200;

/** `omitted`: the number of skipped variables that do not fit. */
export function toSaveReport({ names, skipped, digest }: SaveReport): string {
  const listed: { name: string; why: string }[] = [];
  let left = MAX_CHARACTERS;
  for (const { name, why } of skipped) {
    const entry = { name, why: why.slice(0, MAX_WHY) };
    left -= toAscii(entry).length + 1;
    if (left < 0) break;
    listed.push(entry);
  }
  const omitted = skipped.length - listed.length;
  return toAscii({ saved: names.length, skippedCount: skipped.length, skipped: listed, omitted, digest });
}

function toAscii(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7E]/g,
    (one) => String.raw`\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
