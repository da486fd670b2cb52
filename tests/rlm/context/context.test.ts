import { expect, test } from "vitest";
import { describeItems } from "../../../src/rlm/context/context.ts";
import type { ContextItem } from "../../../src/rlm/context/context-item.ts";
import type { Session } from "../../../src/session/session.ts";

const items: readonly ContextItem[] = [{ name: "context", kind: "text", bytes: 3, value: { text: "one" } }];

/** A session whose worker answers every execution with this value. */
function answering(value: string): Session {
  const result = { unwrap: () => ({ value: { "text/plain": value } }) };
  return { execute: () => ({ result: Promise.resolve(result) }) } as unknown as Session;
}

function toLiteral(facts: unknown): string {
  return `'${Buffer.from(JSON.stringify(facts)).toString("base64")}'`;
}

test("describeItems() describes what the worker reports", async () => {
  const facts = [{ name: "context", type: "str", length: 3, head: "one", isWhole: true }];
  expect(await describeItems(answering(toLiteral(facts)), items, 6_000)).toBe(
    '- `context`: str, 3 characters\n  is "one"',
  );
});

test.each([
  ["not a literal", "None"],
  ["not JSON", "'AAAA'"],
  ["not a list", toLiteral({ name: "context" })],
  ["fields of another type", toLiteral([{ name: "context", type: "str", length: "3", columns: [1] }])],
])("describeItems() ignores a forged report: %s", async (_, value) => {
  expect(await describeItems(answering(value), items, 6_000)).toBe("");
});
