// What providers accept of a JSON Schema for an answer. The caller checks the answer against the whole schema in any case.

type Schema = Readonly<Record<string, unknown>>;

/** Deeper schemas are not looked at. */
const MAX_DEPTH = 32;

/** Whether OpenAI can enforce the schema: every object is closed and every property is required. */
export function isStrict(schema: unknown, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(schema)) return schema.every((item) => isStrict(item, depth + 1));
  if (!isObject(schema)) return true;
  const { type, properties, required, additionalProperties } = schema;
  if (type === "object" || properties !== undefined) {
    const names = Object.keys(properties ?? {});
    const isClosed = additionalProperties === false && Array.isArray(required);
    if (!isClosed || !names.every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every((value) => isStrict(value, depth + 1));
}

/** Keywords that Anthropic refuses. */
const REFUSED = new Set(
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems".split(
    " ",
  ),
);
const MAPS = new Set(["properties", "$defs", "definitions"]);
const DATA = new Set(["enum", "const", "default", "examples", "required"]);

/** Objects are closed and limits left out, as Anthropic demands. Null: some object has properties of any name, which it cannot express. */
export function toAnthropicSchema(schema: Schema): Schema | null {
  try {
    return close(schema, 0) as Schema;
  } catch (error) {
    if (error instanceof Inexpressible) return null;
    throw error;
  }
}

class Inexpressible extends Error {}

function close(schema: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Inexpressible();
  if (Array.isArray(schema)) return schema.map((item) => close(item, depth + 1));
  if (!isObject(schema)) return schema;
  const { type, properties, additionalProperties = false } = schema;
  const isObjectType = type === "object" || properties !== undefined;
  if (isObjectType && (additionalProperties !== false || properties === undefined)) throw new Inexpressible();
  const entries = Object.entries(schema).filter(([keyword]) => !REFUSED.has(keyword));
  const closed = entries.map(([keyword, value]) => {
    if (DATA.has(keyword)) return [keyword, value];
    if (!MAPS.has(keyword) || !isObject(value)) return [keyword, close(value, depth + 1)];
    const named = Object.entries(value).map(([name, one]) => [name, close(one, depth + 1)]);
    return [keyword, Object.fromEntries(named)];
  });
  return { ...Object.fromEntries(closed), ...(isObjectType && { additionalProperties: false }) };
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
