// What rows say: the word for their kind, and their first words.

import { toSafeText } from "../../parts/safe-text.ts";
import type { RunRow } from "./run-tree.ts";

const MAX_CHARACTERS = 160;
/** A fence and what comes after it: the code has a row of its own. */
const FENCE = /(?:^|\n)[^\S\n]*(?:```|~~~)[\s\S]*$/;

/** As in `node n3`, `step 2`, `query`. */
export function wordOf({ kind, node, step, span, size }: RunRow): string {
  if (kind === "node")
    return node?.isDegraded === true ? `node ${toSafeText(node.id)} (one call)` : `node ${toSafeText(node?.id ?? "")}`;
  if (kind === "step") return `step ${step ?? ""}`;
  if (kind === "batch") return `batch of ${size}`;
  if (kind !== "model") return kind;
  if (span?.purpose === "query") return "query";
  return span?.purpose === "extract" ? "extract" : "model";
}

export function firstWords(row: RunRow): string {
  return toSafeText(oneLine(textOf(row)), { maxCharacters: MAX_CHARACTERS });
}

/** What a row shows, whole. */
export function textOf({ kind, node, span, children }: RunRow): string {
  if (node !== null) return node.query;
  if (span !== null) {
    if (kind === "model") return withoutCode(span.head) || span.head || (span.endedAt === null ? "…" : "");
    return kind === "tool" ? [span.name, span.head].filter(Boolean).join(" · ") : span.name;
  }
  if (kind === "batch") return batchText(children);
  const reply = children.find((child) => child.span?.purpose === "step")?.span?.head ?? "";
  const code = children.find((child) => child.kind === "code")?.span?.name ?? "";
  return withoutCode(reply) || code || reply;
}

function batchText(children: readonly RunRow[]): string {
  const ended = children.filter(({ endedAt }) => endedAt !== null).length;
  const [first] = children;
  const what = first?.kind === "node" ? "nodes" : "calls";
  const state = ended === children.length ? "at once" : `at once, ${ended} done`;
  return first === undefined ? "" : `${children.length} ${what} ${state} · ${textOf(first)}`;
}

/** What went wrong with a row, in a word. Undefined: nothing, or it goes on. */
export function troubleOf({ node, span, endedAt, isCancelled }: RunRow): string | undefined {
  if (isCancelled) return "cancelled";
  if (node !== null) return node.status === null || node.status === "final" ? undefined : node.status;
  if (span === null || span.ok === true || endedAt === null) return undefined;
  if (span.ok === null) return "cut off";
  return span.kind === "code" ? "error" : "failed";
}

/** What a reply says before its first block of code. */
export function withoutCode(reply: string): string {
  return reply.replace(FENCE, "").trim();
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** The model of a row. Empty: it has none, or several. */
export function modelOf({ node, span, kind, children }: RunRow): string {
  if (node !== null) return toSafeText(node.model);
  if (span?.kind === "model") return toSafeText(span.name);
  if (kind !== "batch") return "";
  const names = new Set(children.map((child) => modelOf(child)));
  const [only] = names;
  return names.size === 1 && only !== undefined ? only : "";
}
