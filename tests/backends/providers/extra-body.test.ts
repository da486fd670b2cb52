import { describe, expect, test } from "vitest";
import { mergeExtraBody } from "../../../src/backends/providers/extra-body.ts";

const body = { model: "a", messages: [], options: { a: 1, schema: { default: null } }, max_tokens: 5 };

describe("mergeExtraBody()", () => {
  test("merges objects, replaces other values, and removes what is null", () => {
    const extra = { top_k: 40, options: { b: [1] }, max_tokens: null };
    expect(mergeExtraBody(body, extra, "any")).toEqual({
      model: "a",
      messages: [],
      options: { a: 1, schema: { default: null }, b: [1] },
      top_k: 40,
    });
  });

  test("keeps a body without extra fields", () => {
    expect(mergeExtraBody(body, undefined, "any")).toBe(body);
  });

  test.each(["model", "messages", "input", "contents", "system", "systemInstruction", "stream"])(
    "refuses to set %s",
    (name) => {
      expect(() => mergeExtraBody(body, { [name]: null }, "any")).toThrow(
        `Cannot get an answer from any: the extra body may not set '${name}', which is part of every request`,
      );
    },
  );

  test("does not change prototypes", () => {
    const extra = JSON.parse('{"__proto__":{"polluted":1},"options":{"__proto__":{"polluted":1}}}') as object;
    mergeExtraBody(body, extra as Record<string, unknown>, "any");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
