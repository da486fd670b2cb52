import { expect, test } from "vitest";
import { z } from "zod";
import { isStrict, toAnthropicSchema } from "../../../../src/backends/providers/protocols/json-schema.ts";

const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

test("a schema is strict where all objects are closed and all properties required", () => {
  expect(isStrict(closed)).toBe(true);
  expect(isStrict({ type: "array", items: { ...closed, required: [] } })).toBe(false);
  expect(isStrict({ type: "object", properties: {} })).toBe(false);
});

test("Anthropic gets closed objects without limits, and properties keep their names", () => {
  const schema = z.object({
    minimum: z.int(),
    tags: z.array(z.string().min(1)).max(3),
    kind: z.enum(["minLength", "b"]),
  });
  expect(toAnthropicSchema(z.toJSONSchema(schema, { io: "input" }))).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      minimum: { type: "integer" },
      tags: { type: "array", items: { type: "string" } },
      kind: { type: "string", enum: ["minLength", "b"] },
    },
    required: ["minimum", "tags", "kind"],
    additionalProperties: false,
  });
});

test.each([
  { type: "object" },
  { type: "object", properties: {}, additionalProperties: true },
  { type: "array", items: { type: "object", properties: {}, additionalProperties: { type: "string" } } },
])("Anthropic gets no schema for %j, which has properties of any name", (schema) => {
  expect(toAnthropicSchema(schema)).toBeNull();
});

test("a schema without an end is not followed", () => {
  const schema: Record<string, unknown> = { type: "object", properties: {}, additionalProperties: false };
  schema["properties"] = { self: schema };
  expect(toAnthropicSchema(schema)).toBeNull();
});
