// The form that an answer must have: JSON Schema, checked by us whatever a provider promised.

import { z } from "zod";

export type JSONSchema = Readonly<Record<string, unknown>>;

export type Checked = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly problem: string };

const MAX_ISSUES = 5;

/** Throws a RangeError for a schema that is none. */
export function compileSchema(schema: JSONSchema): (data: unknown) => Checked {
  let parser: z.ZodType;
  try {
    parser = z.fromJSONSchema(schema);
  } catch (error) {
    throw new RangeError(`Cannot use the schema: ${(error as Error).message}`);
  }
  return (data) => {
    const parsed = parser.safeParse(data);
    if (parsed.success) return { ok: true, data: parsed.data };
    const issues = parsed.error.issues.slice(0, MAX_ISSUES);
    return {
      ok: false,
      problem: issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`).join("; "),
    };
  };
}

const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/;

/** The JSON of a text that should be JSON, with or without a fence around it. */
export function parseAnswer(text: string): Checked {
  const bare = FENCED.exec(text)?.[1] ?? text;
  try {
    return { ok: true, data: JSON.parse(bare) as unknown };
  } catch (error) {
    return { ok: false, problem: `it is no JSON: ${(error as Error).message}` };
  }
}
