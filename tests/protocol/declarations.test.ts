// The declarations of a release are printed from schemas, without zod.

import { expect, test } from "vitest";
import { z } from "zod";

type Printer = (
  name: string,
  schema: z.ZodType,
  options: { readonly nameOf: (schema: unknown) => string | undefined; readonly isCommented: boolean },
) => string;

const script = new URL("../../scripts/declarations/schema-to-typescript.mjs", import.meta.url).href;
const { toTypeScript } = (await import(script)) as { readonly toTypeScript: Printer };

const cut = z.object({ total: z.int() }).meta({ id: "Cut", description: "How much was left out" });
const options = { nameOf: (schema: unknown) => (schema === cut ? "Cut" : undefined), isCommented: false };

test("an object becomes an interface with comments, exact optional fields and names of other types", () => {
  const schema = z
    .object({
      type: z.literal("a"),
      status: z.enum(["ok", "error"]).nullable().describe("Null while it runs"),
      cut: cut.exactOptional(),
      described: cut.describe("Of the value"),
      maybe: z.string().optional(),
      lists: z.array(z.union([z.string(), z.null()])),
      fields: z.record(z.string(), z.unknown()),
      all: z.record(z.enum(["a", "b"]), z.number()),
      some: z.partialRecord(z.enum(["a", "b"]), z.number()),
      size: z.int().min(0).default(0),
      inner: z.object({ flag: z.boolean().catch(false) }),
    })
    .describe("An example */");
  expect(toTypeScript("Example", schema, options)).toBe(`/** An example *\\/. */
export interface Example {
    /** Which kind it is. */
    readonly type: "a";
    /** Null while it runs. */
    readonly status: ("ok" | "error") | null;
    readonly cut?: Cut;
    /** Of the value. */
    readonly described: Cut;
    readonly maybe?: string | undefined;
    readonly lists: readonly (string | null)[];
    readonly fields: { readonly [key: string]: unknown };
    readonly all: { readonly [key in "a" | "b"]: number };
    readonly some: { readonly [key in "a" | "b"]?: number };
    readonly size: number;
    readonly inner: {
        readonly flag: boolean;
    };
}`);
});

test("a union becomes a type", () => {
  const schema = z.discriminatedUnion("type", [z.object({ type: z.literal("a") }), z.object({ type: z.literal("b") })]);
  expect(toTypeScript("Either", schema, options)).toBe(`export type Either = {
    /** Which kind it is. */
    readonly type: "a";
} | {
    /** Which kind it is. */
    readonly type: "b";
};`);
});

test.each([
  ["any", z.any()],
  ["a transform", z.string().transform(Number)],
  ["a record with other keys", z.record(z.templateLiteral(["a", z.string()]), z.string())],
])("%s has no printed type", (_, schema) => {
  expect(() => toTypeScript("Other", z.object({ schema }), options)).toThrow(/Cannot print a schema of the kind/);
});
