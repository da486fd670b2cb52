// The JSON Schema of an answer. We check it ourselves, whatever a provider promises.

import { z } from "zod";
import { shorten } from "../../util/text/shorten.ts";

export type JSONSchema = Readonly<Record<string, unknown>>;

export type Checked = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly problem: string };

const MAX_ISSUES = 5;
/** In characters: a problem may name thousands of keys. */
const MAX_PROBLEM = 2_000;

export interface SchemaOptions {
  /** Whether regular expressions of the schema are tried on the answer. A caller that controls both can block the host with one. Default: true. */
  readonly patterns?: boolean;
}

/** Throws a RangeError for an invalid schema. */
export function compileSchema(schema: JSONSchema, { patterns = true }: SchemaOptions = {}): (data: unknown) => Checked {
  let parser: z.ZodType;
  try {
    parser = z.fromJSONSchema(patterns ? schema : (withoutPatterns(schema) as JSONSchema));
  } catch (error) {
    throw new RangeError(`Cannot use the schema: ${(error as Error).message}`);
  }
  return (data) => {
    const parsed = parser.safeParse(data);
    if (parsed.success) return { ok: true, data: parsed.data };
    const issues = parsed.error.issues.slice(0, MAX_ISSUES);
    const problems = issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
    return { ok: false, problem: shorten(problems.join("; "), MAX_PROBLEM) };
  };
}

/** Keywords whose values are schemas or lists of schemas; below, objects of schemas by name. */
const SCHEMAS: ReadonlySet<string> = new Set(
  "items additionalItems additionalProperties contains propertyNames not if then else anyOf allOf oneOf prefixItems".split(
    " ",
  ),
);
const NAMED_SCHEMAS: ReadonlySet<string> = new Set("properties $defs definitions dependentSchemas".split(" "));
const PATTERNS: ReadonlySet<string> = new Set(["pattern", "patternProperties"]);

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).filter(([key]) => !PATTERNS.has(key));
  return Object.fromEntries(
    entries.map(([key, value]: [string, unknown]) => {
      if (SCHEMAS.has(key)) return [key, withoutPatterns(value)];
      if (!NAMED_SCHEMAS.has(key) || typeof value !== "object" || value === null) return [key, value];
      return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutPatterns(one)]))];
    }),
  );
}

const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/;

/** Parses a text as JSON, with or without a fence around it. */
export function parseAnswer(text: string): Checked {
  const bare = FENCED.exec(text)?.[1] ?? text;
  try {
    return { ok: true, data: JSON.parse(bare) as unknown };
  } catch (error) {
    return { ok: false, problem: `it is no JSON: ${(error as Error).message}` };
  }
}

/** For versions of zod 4 that do not offer Standard JSON Schema. */
export function fromZod(schema: object): unknown {
  return z.toJSONSchema(schema as z.ZodType, { io: "input" });
}
