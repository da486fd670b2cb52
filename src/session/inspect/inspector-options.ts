// What may be asked about a namespace, checked where it enters; and cursors, which JavaScript and Python count differently.

export interface VariablesOptions {
  /** Names that begin with an underscore too. Default: false. */
  readonly all?: boolean;
}

export interface LookOptions {
  /** For what the objects do when they are looked at: 30 s at most. Default: 2 s. */
  readonly timeoutMs?: number;
}

export interface InspectOptions extends LookOptions {
  /** Of `repr` and `str`, each: 1,000,000 at most. Default: 10,000. */
  readonly maxCharacters?: number;
}

const DEFAULT_TIMEOUT_MS = 2_000;
const MAX_TIMEOUT_MS = 30_000;
const DEFAULT_CHARACTERS = 10_000;
const MAX_CHARACTERS = 1_000_000;
const MAX_CODE = 1024 * 1024;

export function checkInspectOptions(name: string, options: InspectOptions): Required<InspectOptions> {
  if (typeof name !== "string") throw new TypeError(`Cannot inspect a ${typeof name}: it must be a name`);
  const { maxCharacters = DEFAULT_CHARACTERS } = options;
  checkRange("maxCharacters", maxCharacters, MAX_CHARACTERS);
  return { timeoutMs: checkTimeout(options), maxCharacters };
}

/** Returns the time limit. */
export function checkCode(code: string, cursor: number, options: LookOptions): number {
  if (typeof code !== "string") throw new TypeError(`Cannot look at a ${typeof code}: code must be a string`);
  if (code.length > MAX_CODE) throw new RangeError(`Cannot look at code of ${code.length} characters: too long`);
  if (!Number.isSafeInteger(cursor) || cursor < 0 || cursor > code.length) {
    throw new RangeError(`Cannot use ${cursor} as cursor: it must be a place in the code`);
  }
  return checkTimeout(options);
}

/** An index into a JavaScript string as the number of code points before it. */
export function toCodePoints(text: string, index: number): number {
  let points = 0;
  for (let at = 0; at < index; at += (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1) points += 1;
  return points;
}

/** The other way round. */
export function toCodeUnits(text: string, points: number): number {
  let at = 0;
  for (let count = 0; count < points; count += 1) at += (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1;
  return at;
}

function checkTimeout({ timeoutMs = DEFAULT_TIMEOUT_MS }: LookOptions): number {
  checkRange("timeoutMs", timeoutMs, MAX_TIMEOUT_MS);
  return timeoutMs;
}

function checkRange(name: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return;
  throw new RangeError(`Cannot use ${value} as ${name}: it must be a whole number from 1 to ${most}`);
}
