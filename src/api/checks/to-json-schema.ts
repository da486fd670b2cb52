// The schema of an answer as JSON Schema, whatever library it was written with.
//
// The library of the caller may be another copy or version than ours, so nothing depends on `instanceof`.

import type { AnswerSchema, JSONSchema } from "../schema.ts";

/** Standard JSON Schema (standardschema.dev/json-schema), as far as it is used here. */
interface StandardProperties {
  readonly vendor?: unknown;
  readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => unknown };
}

const TARGET = { target: "draft-2020-12" };

/** `fromZod` converts a schema of zod 4 that does not describe itself. Throws a TypeError for a schema that cannot be described. */
export function toJSONSchema(schema: AnswerSchema, fromZod?: (schema: AnswerSchema) => unknown): JSONSchema {
  const isLibrary = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!isLibrary || Array.isArray(schema)) {
    throw new TypeError(`Cannot use ${describe(schema)} as a schema: give JSON Schema, or a schema of zod 4`);
  }
  const standard = (schema as { "~standard"?: StandardProperties })["~standard"];
  if (typeof standard?.jsonSchema?.input === "function") return convert(() => standard.jsonSchema?.input?.(TARGET));
  if ("_zod" in schema && fromZod !== undefined) return convert(() => fromZod(schema));
  if (standard === undefined && typeof schema !== "function") return schema as JSONSchema;
  const vendor = typeof standard?.vendor === "string" ? ` of ${standard.vendor.slice(0, 80)}` : "";
  throw new TypeError(
    `Cannot use the schema${vendor}: it does not offer JSON Schema. Convert it with its library, and give the JSON Schema`,
  );
}

function convert(make: () => unknown): JSONSchema {
  let made: unknown;
  try {
    made = make();
  } catch (error) {
    const { message } = error as Error;
    throw new TypeError(`Cannot use the schema: its library cannot say it as JSON Schema: ${message}`, {
      cause: error,
    });
  }
  if (typeof made === "object" && made !== null && !Array.isArray(made)) return made as JSONSchema;
  throw new TypeError(`Cannot use the schema: its library gave ${describe(made)} as JSON Schema`);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
