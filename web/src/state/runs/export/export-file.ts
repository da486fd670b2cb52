// Writes the one HTML file of an exported run: the viewer, and the data as JSON that no parser of HTML can take for markup.

import { EMBEDDED } from "../../../export/embedded.ts";
import type { RecordedEvent, RunOutline } from "../run-source.ts";

/** Where the data goes in the viewer. */
const PLACE = "<!--run-data-->";

export interface ExportedRun {
  readonly outline: RunOutline;
  readonly pieces: readonly (readonly RecordedEvent[])[];
  readonly blobs: ReadonlyMap<string, string>;
  /** What was left out, in words. Empty: nothing. */
  readonly omitted: string;
}

/** In parts, so that a large file is never one string. */
export function toExportParts(viewer: string, { outline, pieces, blobs, omitted }: ExportedRun): readonly string[] {
  const at = viewer.lastIndexOf(PLACE);
  if (at === -1) throw new Error("The viewer for exported runs is damaged");
  return [
    viewer.slice(0, at),
    jsonElement(`id="${EMBEDDED.outline}"`, outline),
    ...pieces.flatMap((events) => {
      const [first, last] = [events[0], events.at(-1)];
      if (first === undefined || last === undefined) return [];
      const range = `data-first="${first.seq}" data-last="${last.seq}"`;
      return [jsonElement(`data-kind="${EMBEDDED.events}" ${range}`, events)];
    }),
    ...[...blobs].map(([hash, text]) => jsonElement(`data-kind="${EMBEDDED.blobs}" data-hash="${toHash(hash)}"`, text)),
    `<div id="${EMBEDDED.omitted}" hidden>${omitted.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</div>`,
    viewer.slice(at + PLACE.length),
  ];
}

function jsonElement(attributes: string, value: unknown): string {
  return `<script type="application/json" ${attributes}>${escapeJSON(JSON.stringify(value))}</script>\n`;
}

/** Without `<`, nothing in a text can end the element or begin a comment. */
export function escapeJSON(json: string): string {
  return json
    .replaceAll("<", String.raw`\u003c`)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
}

/** Hashes are hexadecimal; whatever else is in a record does not get into an attribute. */
function toHash(hash: string): string {
  return hash.replaceAll(/[^0-9a-zA-Z]/g, "");
}
