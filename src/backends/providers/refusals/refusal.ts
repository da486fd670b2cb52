// What an error of a provider says, as text in which refusals are recognised.
//
// Only the provider's own words count. Some servers repeat the request in their error, and a field of it is not a field that they
// refuse, so only known parts of the error are read. Everything has a bound.

import { parseJSON } from "../../../util/parse-json.ts";
import { toFields } from "../protocols/wire-protocol.ts";

export interface Refusal {
  /** On one line, and without commas in numbers. */
  readonly text: string;
  /** The fields of the request at which the error points: `stream_options`, `body.seed`, `messages[0].role`. */
  readonly fields: readonly string[];
}

/** Parts of an error that hold words, or further parts. */
const WORDS = new Set(
  "error errors message messages msg detail details description error_description reason title raw metadata fieldViolations".split(
    " ",
  ),
);
/** Numbers that llama.cpp reports beside its message. */
const COUNTS = new Set(["n_ctx", "n_prompt_tokens"]);
const MAX_DEPTH = 8;
const MAX_VALUES = 200;
const MAX_CHARACTERS = 4_000;

/** Reads the shape of the AI SDK's `APICallError`, which our own client throws as well. */
export function readRefusal(error: unknown): Refusal {
  const { data, responseBody, message } = toFields(error);
  const reader = new ErrorReader();
  reader.read("error", data);
  reader.read("error", responseBody);
  if (reader.isEmpty) reader.read("error", message);
  return reader.refusal;
}

class ErrorReader {
  readonly #words: string[] = [];
  readonly #fields: string[] = [];
  #values = 0;

  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  get refusal(): Refusal {
    const text = this.#words.join(" ; ").slice(0, MAX_CHARACTERS).replaceAll(/\s+/g, " ");
    return { text: text.replaceAll(/(\d),(?=\d{3}\b)/g, "$1"), fields: this.#fields };
  }

  read(name: string, value: unknown, depth = 0): void {
    this.#values += 1;
    if (depth > MAX_DEPTH || this.#values > MAX_VALUES) return;
    if (name === "param" || name === "loc") return this.#point(value);
    if (COUNTS.has(name) && typeof value === "number") this.#words.push(`${name}: ${value}`);
    if (!WORDS.has(name)) return;
    if (typeof value === "string") return this.#readText(name, value.slice(0, MAX_CHARACTERS), depth);
    if (Array.isArray(value)) {
      for (const item of value.slice(0, MAX_VALUES)) this.read(name, item, depth + 1);
      return;
    }
    for (const [inner, part] of Object.entries(toFields(value)).slice(0, MAX_VALUES)) this.read(inner, part, depth + 1);
  }

  /** Proxies put the error of the server behind them into a string. */
  #readText(name: string, text: string, depth: number): void {
    const parsed = /^\s*[[{]/.test(text) ? parseJSON(text) : undefined;
    if (typeof parsed === "object" && parsed !== null) this.read(name, parsed, depth + 1);
    else if (text.trim() !== "") this.#words.push(text);
  }

  #point(value: unknown): void {
    const path = Array.isArray(value) ? value.slice(0, MAX_DEPTH).map(String).join(".") : value;
    if (typeof path !== "string" || path === "") return;
    this.#fields.push(path.slice(0, 100));
    this.#words.push(path.slice(0, 100));
  }
}
