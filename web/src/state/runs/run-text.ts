// Texts in recorded events: whole, or the beginning and a reference to the rest. Everything here was written by models and by code that
// they ran, and is taken for what it is: unknown.

/** A text that is in the event, or the head of one that is loaded on demand. */
export type RunText =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "blob"; readonly hash: string; readonly bytes: number; readonly head: string };

export const NO_TEXT: RunText = { kind: "whole", text: "" };

/** Anything: text as it is, a reference, and other values as JSON. */
export function toRunText(value: unknown): RunText {
  if (value === undefined || value === null) return NO_TEXT;
  if (typeof value === "string") return { kind: "whole", text: value };
  const reference = toReference(value);
  if (reference !== undefined && !reference.isJSON) {
    const { hash, bytes, head } = reference;
    return { kind: "blob", hash, bytes, head };
  }
  return { kind: "whole", text: toJSON(value) };
}

/** Deeper values would be more blanks than text. */
const MAX_INDENTED = 100;
/** Writing deeper ones could overflow the stack. */
const MAX_DEPTH = 500;

function toJSON(value: unknown): string {
  const depth = depthOf(value);
  if (depth > MAX_DEPTH) return "[a value that is nested too deeply to be shown]";
  return JSON.stringify(value, undefined, depth > MAX_INDENTED ? 0 : 2);
}

/** How many levels a value has, level by level. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level: readonly unknown[] = [value]; level.length > 0 && depth <= MAX_DEPTH; depth += 1)
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  return depth;
}

export function isEmptyText(text: RunText): boolean {
  return text.kind === "whole" && text.text === "";
}

export interface BlobReference {
  readonly hash: string;
  readonly bytes: number;
  readonly head: string;
  /** The blob is a value as JSON, which may hold references itself. */
  readonly isJSON: boolean;
}

export function toReference(value: unknown): BlobReference | undefined {
  if (!isRecord(value)) return undefined;
  const { $blob: hash, bytes, head, encoding } = value;
  if (typeof hash !== "string") return undefined;
  return {
    hash,
    bytes: typeof bytes === "number" && bytes >= 0 && Number.isFinite(bytes) ? bytes : 0,
    head: typeof head === "string" ? head : "",
    isJSON: encoding === "json",
  };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function stringIn(value: unknown, field: string): string {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === "string" ? found : "";
}

export function numberIn(value: unknown, field: string): number | null {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}
