// Parsers of option values. A wrong value is refused before anything starts.

import { InvalidArgumentError } from "commander";
import { isStrategy, rlmSchema, STRATEGY_RULE, type RLMTable } from "../../config/schema.ts";
import { parseSize as toBytes } from "../../util/bytes/parse-size.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { readSmallFile } from "../../util/toml/read-small-file.ts";

/** The longest timer is 24 days. */
const MAX_SECONDS = 2_000_000;
const MIN_MEMORY = 64 * 1024 * 1024;

/** Seconds, fractions allowed. 0 means no limit. */
export function parseSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$|^\.\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds >= 0 && seconds <= MAX_SECONDS)) {
    throw new InvalidArgumentError(`It must be seconds, from 0 (no limit) to ${MAX_SECONDS}`);
  }
  return seconds;
}

export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number");
  return Number(text);
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("It must be a number from 0 to 65535");
  return port;
}

/** A whole number of at least `least`. */
export function parseCountFrom(least: number): (text: string) => number {
  return (text) => {
    const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(count) && count >= least) return count;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}`);
  };
}

export function parseInteger(text: string): number {
  const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError("It must be a whole number");
}

export function parseTemperature(text: string): number {
  if (/^\d+(\.\d+)?$|^\.\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number of at least 0, such as 0.7");
}

/** Fields of a request, as a JSON object. */
export function parseFields(text: string): NonNullable<RLMTable["extra_body"]> {
  const data = parseJSON(text);
  const parsed = rlmSchema.shape.extra_body.unwrap().safeParse(data);
  if (parsed.success) return parsed.data;
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  throw new InvalidArgumentError(
    isObject ? `It ${parsed.error.issues[0]?.message}` : 'It must be a JSON object, such as {"top_k": 20}',
  );
}

/** A positive amount of money. */
export function parseUSD(text: string): number {
  const amount = /^\$?(\d+(?:\.\d+)?|\.\d+)$/.exec(text)?.[1];
  if (amount !== undefined && Number(amount) > 0) return Number(amount);
  throw new InvalidArgumentError("It must be an amount of USD, such as 0.50");
}

/** A shipped strategy or a file. */
export function parseStrategy(text: string): string {
  if (isStrategy(text)) return text;
  throw new InvalidArgumentError(`It ${STRATEGY_RULE}`);
}

/** A text, or the content of a file, written as `@FILE`. */
export function parseTextOrFile(text: string): string {
  if (!text.startsWith("@")) return text;
  try {
    return readSmallFile(text.slice(1)).toString("utf8");
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** An amount of memory: `512m`, `2g`, `2GiB`, or bytes. */
export function parseSize(text: string): number {
  const bytes = toBytes(text) ?? 0;
  if (bytes < MIN_MEMORY) throw new InvalidArgumentError("It must be a size of at least 64m, such as 512m or 4g");
  return bytes;
}

export function parseAssignment(text: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be KEY=VALUE");
  return [text.slice(0, at), text.slice(at + 1)];
}

/** For an option that may be repeated: collects its values in order. */
export function collect<Value>(parse: (text: string) => Value): (text: string, before?: Value[]) => Value[] {
  return (text, before = []) => [...before, parse(text)];
}
