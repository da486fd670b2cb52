// Assertions for any test runner and any platform.

type ErrorClass<Thrown extends Error = Error> = abstract new (...args: never[]) => Thrown;

/** Throws unless the condition holds. */
export function check(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** Compares plain data, lists and bytes by content, and everything else by identity. */
export function equal(actual: unknown, expected: unknown, what = "a value"): void {
  if (!isEqual(actual, expected)) throw new Error(`Expected ${what} to be ${show(expected)}, got ${show(actual)}`);
}

/** Compares the fields that are named; others are ignored. */
export function matches(actual: unknown, expected: Readonly<Record<string, unknown>>, what = "an object"): void {
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(expected)) fields[name] = (actual as Record<string, unknown> | null)?.[name];
  equal(fields, expected, what);
}

/** Compares text with a pattern. */
export function like(actual: unknown, pattern: RegExp, what = "a text"): void {
  check(typeof actual === "string" && pattern.test(actual), `Expected ${what} like ${pattern}, got ${show(actual)}`);
}

/** The error with which it rejects, which has this class and these fields. */
export async function rejects<Thrown extends Error>(
  work: PromiseLike<unknown>,
  expected: ErrorClass<Thrown>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Thrown> {
  let value: unknown;
  try {
    value = await work;
  } catch (error) {
    return checkError(error, expected, fields);
  }
  throw new Error(`Expected a rejection with ${expected.name}, got ${show(value)}`);
}

/** The error that the call throws before it returns, which has this class and these words in its message. */
export function throws<Thrown extends Error>(
  call: () => unknown,
  expected: ErrorClass<Thrown>,
  message?: RegExp,
): Thrown {
  let value: unknown;
  try {
    value = call();
  } catch (error) {
    const thrown = checkError(error, expected, {});
    if (message !== undefined) like(thrown.message, message, "a message");
    return thrown;
  }
  if (isThenable(value)) value.then(undefined, () => {}); // it rejects, which is too late
  throw new Error(`Expected ${expected.name} at once from ${String(call)}, but nothing was thrown`);
}

function checkError<Thrown extends Error>(
  error: unknown,
  expected: ErrorClass<Thrown>,
  fields: Readonly<Record<string, unknown>>,
): Thrown {
  if (!(error instanceof expected)) throw new Error(`Expected ${expected.name}, got ${show(error)}`, { cause: error });
  matches(error, fields, `the fields of ${expected.name}`);
  return error;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Uint8Array || b instanceof Uint8Array) return isEqualBytes(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && isEqual((a as Fields)[key], (b as Fields)[key]));
}

type Fields = Readonly<Record<string, unknown>>;

function isEqualBytes(a: object, b: object): boolean {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array) || a.length !== b.length) return false;
  return a.every((byte, index) => byte === b[index]);
}

const MAX_SHOWN = 600;

function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Uint8Array) return `${value.length} bytes [${value.slice(0, 40).join(" ")}]`;
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") return String(value);
  const text = JSON.stringify(value, (_, part: unknown) => (part === undefined ? "(undefined)" : part)) ?? "undefined";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
