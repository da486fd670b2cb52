// Texts of events, which are whole, or stored as a reference to the rest.

/** Stands for a long text in a recorded event. */
export interface BlobReference {
  /** The SHA-256 of the text, by which `run.blob` gets it. */
  readonly $blob: string;
  /** Its size. */
  readonly bytes: number;
  /** The first 200 characters. */
  readonly head: string;
  /** Absent: the blob is a text in UTF-8. `json`: it is a value as JSON, which may contain references. */
  readonly encoding?: "json";
}

/** A text in a recorded event. */
export type StoredText = string | BlobReference;

const MAX_DEPTH = 20;

/** The first characters of a text. Of a reference at most 200. */
export function headOf(text: unknown, characters = 200): string {
  const known = isBlobReference(text) ? text.head : text;
  if (typeof known !== "string") return "";
  if (known.length <= characters) return known;
  // Copied: a slice would keep the whole text in memory.
  return JSON.parse(JSON.stringify(known.slice(0, characters).replace(/\p{Surrogate}$/u, ""))) as string;
}

/** The first characters of a value: of a string itself, of others their JSON. Long strings in it are known by their beginning. */
export function headOfValue(value: unknown, characters: number): string {
  if (typeof value === "string" || isBlobReference(value)) return headOf(value, characters);
  if (value === undefined) return "";
  return headOf(toJSON(value, characters, 0), characters);
}

export function isBlobReference(value: unknown): value is BlobReference {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { $blob?: unknown }).$blob === "string" &&
    typeof (value as { head?: unknown }).head === "string"
  );
}

/** JSON that may end after that many characters. */
function toJSON(value: unknown, characters: number, depth: number): string {
  if (typeof value === "string" || isBlobReference(value)) return JSON.stringify(headOf(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth >= MAX_DEPTH) return "…";
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  let json = open ?? "";
  for (const key in value) {
    if (json.length > characters) return json;
    const item = toJSON((value as Record<string, unknown>)[key], characters - json.length, depth + 1);
    json += `${json.length > 1 ? "," : ""}${Array.isArray(value) ? "" : `${JSON.stringify(headOf(key))}:`}${item}`;
  }
  return json + close;
}
