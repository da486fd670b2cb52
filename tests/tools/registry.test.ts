import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ToolNotFoundError } from "../../src/errors.ts";
import { ToolRegistry } from "../../src/tools/registry.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";

const context = { signal: new AbortController().signal };

function named(name: string): Tool {
  return defineTool({ name, description: "Does nothing.", schema: z.object({}), handler: () => null });
}

const search = defineTool({
  name: "search",
  description: "Finds documents.",
  schema: z
    .object({
      query: z.string().describe("what to look for"),
      limit: z.int().min(1).default(10),
      exact: z.boolean().optional(),
      tags: z.array(z.string()).default([]),
      how: z.looseObject({}).default({ fuzzy: true, not: [null] }),
    })
    .refine(({ query, exact }) => exact !== true || query.length > 2, "an exact search needs three characters"),
  handler: (args) => args,
});

describe("a call", () => {
  const tools = new ToolRegistry([search]);

  test("gives the handler checked arguments with their defaults", async () => {
    expect(await tools.call("search", { query: "owls" }, context)).toEqual({
      query: "owls",
      limit: 10,
      tags: [],
      how: { fuzzy: true, not: [null] },
    });
  });

  test.each([
    ["an unknown parameter", { query: "a", colour: "red" }, /^search: arguments: .*colour/],
    ["a wrong type", { query: 7 }, /^search: query: /],
    ["a missing one", {}, /^search: query: /],
    ["a value out of bounds", { query: "a", limit: 0 }, /^search: limit: /],
    ["a combination that is refused", { query: "a", exact: true }, /^search: arguments: an exact search/],
    ["no object at all", ["a"], /^search: /],
  ])("with %s is a TypeError that says what is wrong, and the handler is not called", async (_, args, message) => {
    const call = tools.call("search", args, context);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(message);
  });

  test("of an unknown tool names the known ones", async () => {
    const call = tools.call("serach", {}, context);
    await expect(call).rejects.toThrow(ToolNotFoundError);
    await expect(call).rejects.toMatchObject({ tool: "serach", known: ["search"] });
    await expect(tools.call("toString", {}, context)).rejects.toThrow(ToolNotFoundError);
  });

  test("returns a copy as JSON data, and null for undefined", async () => {
    const kept = { at: new Date(0), list: [1] };
    const odd = new ToolRegistry([
      { ...named("keeps"), handler: () => kept },
      { ...named("nothing"), handler: () => undefined },
    ]);
    const answer = odd.call("keeps", {}, context);
    expect(await answer).toEqual({ at: "1970-01-01T00:00:00.000Z", list: [1] });
    expect(((await answer) as typeof kept).list).not.toBe(kept.list);
    expect(await odd.call("nothing", {}, context)).toBeNull();
  });

  test("whose result is no JSON fails like an error of the tool", async () => {
    const ring: Record<string, unknown> = {};
    ring["ring"] = ring;
    const odd = new ToolRegistry([
      { ...named("ring"), handler: () => ring },
      { ...named("big"), handler: () => 1n },
    ]);
    await expect(odd.call("ring", {}, context)).rejects.toThrow("ring: its answer is nothing that JSON can say");
    await expect(odd.call("big", {}, context)).rejects.toThrow("big: its answer is nothing that JSON can say");
  });
});

test("a listing is a Python signature and a docstring", () => {
  expect(new ToolRegistry([search]).listings()).toEqual([
    {
      name: "search",
      parameters: ["query", "limit", "exact", "tags", "how"],
      signature:
        'search(query: str, limit: int = 10, exact: bool = None, tags: list = [], how: dict = {"fuzzy": True, "not": [None]})',
      doc: "Finds documents.\n  query: what to look for",
    },
  ]);
});

test("pick selects tools by name, each once, and refuses unknown names", () => {
  const tools = new ToolRegistry([named("a"), named("b"), named("c")]);
  expect(tools.pick(["c", "a", "c"]).names).toEqual(["c", "a"]);
  expect(tools.pick([]).names).toEqual([]);
  expect(() => tools.pick(["a", "z"])).toThrow(ToolNotFoundError);
});

describe("names", () => {
  test.each(["", "two words", "1st", "é", "a".repeat(65), "a.b", "class", "None", "FINAL", "llm_query", "context"])(
    "refuses %j",
    (name) => {
      expect(() => new ToolRegistry([named(name)])).toThrow(RangeError);
    },
  );

  test("refuses a schema that is not an object's", () => {
    const schema = z.string() as unknown as z.ZodObject;
    expect(() => new ToolRegistry([{ ...named("a"), schema }])).toThrow("must be a z.object of zod 4");
  });

  test("refuses a name that is used twice", () => {
    expect(() => new ToolRegistry([named("a"), named("a")])).toThrow("two tools named 'a'");
  });

  test("refuses everything that sessions of runs have", () => {
    const source = readFileSync("python/worker/rlm/session.py", "utf8");
    const tables = [...source.matchAll(/^(?:RESERVED|PROVIDED)\b[^=]*= \{(?<entries>[^}]*)\}/gm)];
    const given = tables.map(({ groups }) => groups?.["entries"] ?? "").join();
    const names = [...given.matchAll(/"(\w+)":/g)].map(([, name]) => name ?? "");
    expect(names).toContain("chunk");
    expect(names).toContain("SHOW_VARS");
    for (const name of names) expect(() => new ToolRegistry([named(name)]), name).toThrow(RangeError);
  });
});
