import { expect, test } from "vitest";
import { z } from "zod";
import { toJSONSchema as convert } from "../../../src/api/checks/to-json-schema.ts";
import type { AnswerSchema, JSONSchema } from "../../../src/api/schema.ts";
import { fromZod } from "../../../src/rlm/reply/answer-schema.ts";

const toJSONSchema = (schema: AnswerSchema): JSONSchema => convert(schema, fromZod);

const integer = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };

test("JSON Schema is taken as it is, and zod describes itself", () => {
  expect(toJSONSchema(integer)).toBe(integer);
  expect(toJSONSchema(z.object({ total: z.int() }))).toMatchObject(integer);
  expect(toJSONSchema(z.string().transform(Number))).toMatchObject({ type: "string" }); // what a model has to write
});

test("a zod schema of another copy without Standard JSON Schema is converted by ours", () => {
  const schema = z.object({ total: z.int() });
  const older = { _zod: schema._zod, "~standard": { version: 1, vendor: "zod", validate: () => ({ value: 1 }) } };
  expect(toJSONSchema(older as never)).toMatchObject(integer);
});

test("any library with Standard JSON Schema is asked for draft 2020-12, also one whose schemas are functions", () => {
  const targets: string[] = [];
  const input = ({ target }: { target: string }): object => {
    targets.push(target);
    return integer;
  };
  const standard = { version: 1, vendor: "other", jsonSchema: { input, output: () => ({}) } } as const;
  expect(toJSONSchema({ "~standard": standard })).toBe(integer);
  expect(toJSONSchema(Object.assign(() => true, { "~standard": standard }) as never)).toBe(integer);
  expect(targets).toEqual(["draft-2020-12", "draft-2020-12"]);
});

test.each<[string, unknown, RegExp]>([
  [
    "no library",
    { "~standard": { version: 1, vendor: "plain" } },
    /of plain: it does not offer JSON Schema\. Convert it/,
  ],
  ["a function", () => true, /does not offer JSON Schema/],
  ["a text", "string", /a string as a schema/],
  ["null", null, /null as a schema/],
  ["a list", [], /a list as a schema/],
  ["a date of zod", z.date(), /cannot say it as JSON Schema/],
  [
    "a library that gives no object",
    { "~standard": { version: 1, vendor: "x", jsonSchema: { input: () => 5 } } },
    /gave a number as JSON Schema/,
  ],
])("%s is a TypeError that says what to do", (_, schema, message) => {
  expect(() => toJSONSchema(schema as never)).toThrow(TypeError);
  expect(() => toJSONSchema(schema as never)).toThrow(message);
});
