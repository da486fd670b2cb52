// Checks numbers in options.

/** Throws a RangeError unless the value is absent or a whole number of at least `least`. */
export function checkCount(name: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  throw new RangeError(`Cannot use ${show(value)} as ${name}: it must be a whole number of at least ${least}`);
}

/** Throws a RangeError unless the value is absent, null (no limit) or a positive number of milliseconds. */
export function checkDuration(name: string, value: number | null | undefined): void {
  if (value === undefined || value === null || (typeof value === "number" && value > 0)) return;
  throw new RangeError(`Cannot use ${show(value)} as ${name}: it must be a positive number, or null for no limit`);
}

/** A string is quoted, so that it is not taken for a number. */
function show(value: unknown): string {
  return typeof value === "string" ? `'${value.slice(0, 80)}'` : String(value);
}
