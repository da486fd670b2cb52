// The data fields of an error of ours, so that a client can build the same error again.

import type { RLMError } from "../../errors.ts";

export type Facts = Readonly<Record<string, unknown>>;

const MAX_CHARACTERS = 100_000;
const MAX_ITEMS = 100;

/** Undefined: it has none. Texts and lists that are too long are cut; what JSON cannot express is left out. */
export function factsOf(error: RLMError): Facts | undefined {
  const facts: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(error)) {
    const fact = name === "code" ? undefined : toFact(value);
    if (fact !== undefined) facts[name] = fact;
  }
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function toFact(value: unknown): unknown {
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return value;
  if (typeof value === "string") return value.slice(0, MAX_CHARACTERS);
  if (!Array.isArray(value)) return undefined;
  const left = Math.floor(MAX_CHARACTERS / MAX_ITEMS);
  return value.slice(0, MAX_ITEMS).flatMap((one) => (typeof one === "string" ? [one.slice(0, left)] : []));
}
