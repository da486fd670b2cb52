import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Runtime } from "../../internals.ts";
import { compileSchema } from "../../../src/rlm/reply/answer-schema.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, type ScriptFunction, scripted, stepOf, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

const schema = {
  type: "object",
  properties: {
    kind: { enum: ["a", "b"] },
    items: {
      type: "array",
      items: {
        anyOf: [{ type: "integer" }, { type: "object", properties: { n: { type: "number" } }, required: ["n"] }],
      },
    },
  },
  required: ["kind", "items"],
  additionalProperties: false,
};

describe("an answer with a schema", () => {
  test("is sent back with the problem until it is valid", async () => {
    const script = [
      "'x'",
      "{'kind': 'c', 'items': []}",
      "{'kind': 'a', 'items': [{'m': 1}]}",
      "{'kind': 'a', 'items': [1, {'n': 2.5}]}",
    ];
    const { result, observations } = await watch(
      scripted(
        runtime,
        script.map((value) => code(`FINAL(${value})`)),
      ),
      { schema },
    );
    expect(result).toMatchObject({ status: "final", data: { kind: "a", items: [1, { n: 2.5 }] } });
    expect(observations[1]).toMatch(/kind/);
    expect(observations[2]).toMatch(/items/);
  });

  test("may be JSON text, with or without a fence", async () => {
    const json = JSON.stringify({ kind: "b", items: [1] });
    for (const text of [json, `\`\`\`json\n${json}\n\`\`\``]) {
      const { result } = await watch(scripted(runtime, [code(`FINAL(${JSON.stringify(text)})`)]), { schema });
      expect(result).toMatchObject({ status: "final", data: { kind: "b", items: [1] } });
    }
  });

  test("is taken as it is when it never becomes valid", async () => {
    const { result } = await watch(
      scripted(runtime, () => code("FINAL('no')")),
      { schema },
    );
    expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "no" });
    expect(result.data).toBeUndefined();
    expect(result.usage.total.llmCalls).toBe(4);
  });

  test("is checked also at a limit, and in a direct call", async () => {
    const text = JSON.stringify({ kind: "a", items: [7] });
    const script: ScriptFunction = (request) => (isEnd(request) ? text : code("1"));
    const limited = await watch(scripted(runtime, script, { limits: { maxIterations: 1 } }), { schema });
    expect(limited.result).toMatchObject({ status: "partial", data: { kind: "a", items: [7] } });
    const direct = await watch(scripted(runtime, ["{}", text], { mode: "direct" }), { schema });
    expect(direct.result).toMatchObject({ status: "final", data: { kind: "a", items: [7] } });
    const never = await watch(
      scripted(runtime, () => "{}", { mode: "direct" }),
      { schema },
    );
    expect(never.result).toMatchObject({ status: "partial", stopReason: "error", answer: "{}" });
  });

  test.each([{ type: "no such" }, { $ref: "#/nowhere" }, { type: "string", pattern: "(" }])(
    "is refused before anything runs where %j is no schema",
    (none) => {
      expect(() => scripted(runtime, []).run({ query: "?", schema: none })).toThrow(RangeError);
    },
  );
});

test("llm_query with a schema checks the data, asks for corrections, and raises in the end", async () => {
  let n = 0;
  const script: ScriptFunction = (request) => {
    if (request.model === "sub")
      return request.messages[0]?.content.startsWith("bad") === true ? "no" : n++ === 0 ? "not yet" : '{"v": 5}';
    if (stepOf(request) > 0) return code("FINAL(seen)");
    return code(
      "s = {'type': 'object', 'properties': {'v': {'type': 'integer'}}, 'required': ['v']}\nseen = [llm_query('x', schema=s).data]\ntry: llm_query('bad', schema=s)\nexcept LLMError as e: seen.append(e.kind)",
    );
  };
  const { result } = await watch(scripted(runtime, script));
  expect(result.data).toEqual([{ v: 5 }, "schema"]);
});

test("regular expressions in schemas from code are never run on the host", async () => {
  const evil = {
    type: "object",
    properties: { pattern: { type: "string", pattern: "^(a+)+$" } },
    patternProperties: { "^(b+)+$": {} },
    required: ["pattern"],
  };
  const check = compileSchema(evil, { patterns: false });
  expect(check({ pattern: `${"a".repeat(40)}!`, [`${"b".repeat(40)}!`]: 1 }).ok).toBe(true);
  expect(check({}).ok).toBe(false);
  const script: ScriptFunction = (request) => {
    if (request.model === "sub") return `"${"a".repeat(40)}!"`;
    return stepOf(request) > 0
      ? code("FINAL(a.ok)")
      : code("a = llm_query('x', schema={'anyOf': [{'type': 'string', 'pattern': '^(a+)+$'}]})");
  };
  expect((await watch(scripted(runtime, script))).result.data).toBe(true);
});

test("a schema from code that is too large is refused", async () => {
  const { result } = await watch(
    scripted(runtime, [
      code("try: llm_query('x', schema={'enum': ['y' * 100_000]})\nexcept Exception as e: why = str(e)"),
      code("FINAL(why)"),
    ]),
  );
  expect(result.answer).toContain("65536 characters");
});
