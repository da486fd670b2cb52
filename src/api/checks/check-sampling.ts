// Names of models and the settings that a run may choose, here and over HTTP. Each check throws a TypeError or RangeError.

import { nameType } from "./check-options.ts";

/** `what` has the settings. */
export function checkSampling(
  what: string,
  { temperature, seed }: { readonly temperature?: number | undefined; readonly seed?: number | undefined },
): void {
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0))
    throw new RangeError(
      `Cannot use ${show(temperature)} as temperature of ${what}: it must be a number of at least 0`,
    );
  if (seed !== undefined && !Number.isSafeInteger(seed))
    throw new RangeError(`Cannot use ${show(seed)} as seed of ${what}: it must be a whole number`);
}

/** Of a model, a backend and whatever else is a text. */
export function checkModelName(name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string") throw new TypeError(`Cannot use ${nameType(value)} as ${name}: it must be a string`);
  if (value === "") throw new TypeError(`Cannot use ${name}: it is empty`);
}

export function show(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : nameType(value);
}
