// Checks of what a server sent. The schemas of protocol/ are the definition; loading their library would double the size of the client.
//
// A check is a predicate. Unknown fields are accepted, so that a newer server can add some. `tests/client/shapes.test.ts` compares every
// shape with its schema.

export type Check<Value> = (value: unknown) => value is Value;

/** The checks of the fields of an object; of fields that may be absent an `optional` one. */
type Fields<Value> = { readonly [Name in keyof Value]-?: Check<Exclude<Value[Name], undefined>> };

export const unknown = (() => true) as unknown as Check<unknown>;
export const string = isOf<string>("string");
export const boolean = isOf<boolean>("boolean");
export const number: Check<number> = (value): value is number => typeof value === "number" && Number.isFinite(value);

function isOf<Value>(type: string): Check<Value> {
  return (value): value is Value => typeof value === type;
}

export function object<Value extends object>(fields: Fields<Value>): Check<Value> {
  const all = Object.entries(fields) as [string, Check<unknown>][];
  return (value): value is Value => isObject(value) && all.every(([name, check]) => check(value[name]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The type is that of the field where it is present. */
export function optional<Value>(check: Check<Value>): Check<Value> {
  return (value): value is Value => value === undefined || check(value);
}

export function nullable<Value>(check: Check<Value>): Check<Value | null> {
  return (value): value is Value | null => value === null || check(value);
}

export function array<Value>(check: Check<Value>): Check<readonly Value[]> {
  return (value): value is readonly Value[] => Array.isArray(value) && value.every((item) => check(item));
}

export function record<Value>(check: Check<Value>): Check<Readonly<Record<string, Value>>> {
  return (value): value is Readonly<Record<string, Value>> =>
    isObject(value) && Object.values(value).every((item) => check(item));
}

export function oneOf<const Value extends string | boolean>(...values: readonly Value[]): Check<Value> {
  return (value): value is Value => values.includes(value as Value);
}

/** A union that is told apart by one field. */
export function variants<Value>(
  tag: string,
  checks: Readonly<Record<string, Check<unknown>>>,
): Check<Value> & { readonly tags: readonly string[] } {
  const check = (value: unknown): value is Value => {
    const found = isObject(value) ? value[tag] : undefined;
    return typeof found === "string" && Object.hasOwn(checks, found) && checks[found]?.(value) === true;
  };
  return Object.assign(check, { tags: Object.keys(checks) });
}

/** A string that the types tell apart from others. */
export function idOf<Id extends string>(): Check<Id> {
  return string as unknown as Check<Id>;
}
