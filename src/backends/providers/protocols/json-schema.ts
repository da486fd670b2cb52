// What providers accept of a JSON Schema for an answer. The caller checks the answer against the whole schema in any case.

type Schema = Readonly<Record<string, unknown>>;

/** Deeper schemas are not looked at. */
const MAX_DEPTH = 32;

/** Whether OpenAI can enforce the schema: every object is closed and every property is required. */
export function isStrict(schema: unknown, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(schema)) return schema.every((item) => isStrict(item, depth + 1));
  if (typeof schema !== "object" || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as Schema;
  if (type === "object" || properties !== undefined) {
    const names = Object.keys(properties ?? {});
    const isClosed = additionalProperties === false && Array.isArray(required);
    if (!isClosed || !names.every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every((value) => isStrict(value, depth + 1));
}

/** Keywords that Anthropic refuses. */
const REFUSED = /^((exclusive)?(Minimum|Maximum)|multipleOf|(min|max)(Length|Items)|uniqueItems)$/i;
/** Keywords that map names to schemas, and those whose values are no schemas. */
const MAPS = new Set(["properties", "$defs", "definitions"]);
const DATA = new Set(["enum", "const", "default", "examples", "required"]);

/** Objects are closed and limits left out, as Anthropic demands. Null: some object has properties of any name, which it cannot express. */
export function toAnthropicSchema(schema: Schema): Schema | null {
  let isExpressible = true;
  const close = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) isExpressible = false;
    if (!isExpressible || typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => close(item, depth + 1));
    const { type, properties, additionalProperties = false } = value as Schema;
    const isObjectType = type === "object" || properties !== undefined;
    if (isObjectType && (additionalProperties !== false || properties === undefined)) isExpressible = false;
    const closed = Object.entries(value).flatMap(([keyword, inner]) => {
      if (REFUSED.test(keyword)) return [];
      if (DATA.has(keyword)) return [[keyword, inner]];
      return [[keyword, MAPS.has(keyword) ? closeAll(inner, depth) : close(inner, depth + 1)]];
    });
    return { ...Object.fromEntries(closed), ...(isObjectType && { additionalProperties: false }) };
  };
  const closeAll = (map: unknown, depth: number): unknown =>
    Object.fromEntries(Object.entries(map ?? {}).map(([name, inner]) => [name, close(inner, depth + 1)]));
  const closed = close(schema, 0) as Schema;
  return isExpressible ? closed : null;
}
