// Checks of arguments that both implementations of the API make, before anything is sent or started.

import { checkWorkId as checkId } from "../../protocol/ids.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { checkCount, checkDuration } from "../../util/check-number.ts";

/** The names of the options of a type. The argument must name each of them. */
export function optionNames<Options extends object>(names: {
  readonly [name in keyof Required<Options>]: true;
}): readonly (keyof Options & string)[] {
  return Object.keys(names) as (keyof Options & string)[];
}

/** Throws a TypeError, with a suggestion, for an option that does not exist. `call` is what was called, as in `session.execute`. */
export function checkOptions(call: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null || Array.isArray(options) || ArrayBuffer.isView(options)) {
    throw new TypeError(`Cannot use ${nameType(options)} as the options of ${call}: give an object`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = didYouMean(name, known);
    const hint = meant === undefined ? `It takes ${known.join(", ")}` : `Did you mean '${meant}'?`;
    throw new TypeError(`Cannot use the option '${name.slice(0, 80)}' of ${call}: there is no such option. ${hint}`);
  }
}

/** As in `a number`, `undefined`. */
export function nameType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (ArrayBuffer.isView(value)) return "bytes";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Throws unless the value is absent or an id that a caller may choose for an execution, a task or a run. */
export function checkWorkId(value: unknown): void {
  if (value !== undefined) checkId(value);
}

export function checkCode(code: unknown): void {
  if (typeof code !== "string") throw new TypeError(`Cannot execute ${nameType(code)}: code must be a string`);
}

export function checkEnv(env: unknown): void {
  if (env === undefined) return;
  if (typeof env !== "object" || env === null) throw new TypeError("Cannot use env: it must be an object of strings");
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || name.includes("=") || name.includes("\0")) {
      throw new RangeError(`Cannot set environment variable '${name}': the name is not valid`);
    }
    if (typeof value !== "string" || value.includes("\0")) {
      throw new TypeError(`Cannot set environment variable '${name}': the value must be a string without NUL`);
    }
  }
}

export function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, addEventListener } = (signal ?? {}) as { aborted?: unknown; addEventListener?: unknown };
  if (typeof aborted !== "boolean" || typeof addEventListener !== "function")
    throw new TypeError("Cannot use signal: it must be an AbortSignal");
}

export function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function")
    throw new TypeError(`Cannot use ${name}: it must be a function`);
}

/** Throws unless each is absent or valid. */
export function checkTimes(times: Readonly<Record<string, number | null | undefined>>): void {
  for (const [name, value] of Object.entries(times)) checkDuration(name, value);
}

export function checkCounts(counts: Readonly<Record<string, number | undefined>>, least = 0): void {
  for (const [name, value] of Object.entries(counts)) checkCount(name, value, least);
}
