import { expect, test } from "vitest";
import { toSegment } from "../../../../src/backends/providers/protocols/wire-protocol.ts";
import { parseCall } from "../../../../src/protocol/worker/call-arguments.ts";

test.each([".", ".."])("a model named %s leads to no other path", (model) => {
  expect(() => toSegment(model)).toThrow("the provider failed");
});

test("a name of a model is one segment of a path, and half of a character in it is replaced", () => {
  expect(toSegment("a\uD800/b")).toBe("a%EF%BF%BD%2Fb");
});

test("code cannot ask a model without a name", () => {
  expect(() => parseCall("llm_query", { prompts: ["?"], model: "" })).toThrow(TypeError);
});
