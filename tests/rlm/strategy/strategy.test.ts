import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RLMOptions, Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted, watch, type Script } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

describe("a strategy", () => {
  test("decides how much of the output is shown", async () => {
    const script = [code("print('x' * 1_000)\n'y' * 1_000"), code("FINAL(len(_out[1]))")];
    const strategy = { observations: { characters: 300 } };
    const { observations, result } = await watch(scripted(runtime, script, { strategy }), { context: "c" });
    expect(observations[0]).toMatch(/^Output of block 1:\nx+\n… [^\n]+ omitted[^\n]+_out\[1\] …\nx+\n+→ 'y+/);
    expect(observations[0]?.length).toBeLessThan(700);
    expect(result.answer).toBe("1001");
  });

  test("decides which helpers there are, with their async twins", async () => {
    const names = ["llm_query", "llm_query_async", "rlm_query", "rlm_query_batched_async", "grep", "chunk", "FINAL"];
    const script = code(`FINAL([name in globals() for name in ${JSON.stringify(names)}])`);
    const rlm = scripted(runtime, [script], { strategy: { helpers: ["grep"] } });
    expect((await rlm.run({ query: "?", context: "c" }).result).data).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  test("is named in the first event, with a digest that tells strategies of the same name apart", async () => {
    const start = async (options: Partial<RLMOptions>) => {
      const { events } = await watch(scripted(runtime, [code("FINAL(1)")], options), { context: "c" });
      return events[0]?.type === "run-start" ? events[0].strategy : undefined;
    };
    const named = await start({ strategy: "small" });
    expect(named).toMatchObject({ name: "small", digest: expect.stringMatching(/^[\da-f]{16}$/) });
    const own = await start({ strategy: "small", systemPrompt: "You are a librarian." });
    expect(own?.name).toBe("small");
    expect(own?.digest).not.toBe(named?.digest);
  });

  test("has the system prompt that was given, and what models need beside it", async () => {
    const prompts: string[] = [];
    const script: Script = ({ messages }) => {
      prompts.push(messages[0]?.content ?? "");
      return code("FINAL(1)");
    };
    const rlm = scripted(runtime, script, { systemPrompt: "You are a librarian." });
    await rlm.run({ query: "?", context: "c" }).result;
    expect(prompts[0]).toMatch(/^You are a librarian\.\n\nEach reply holds one block of code[^]*call FINAL\(answer\)/);
  });

  test("may be of a single model, beside that of the others", async () => {
    const limits = new Map<string, number | undefined>();
    const script: Script = ({ model, maxTokens }) => {
      limits.set(model, maxTokens);
      return model === "root" ? code("FINAL(llm_query('?'))") : "fine";
    };
    const models = { sub: { model: "sub", strategy: { calls: { queryTokens: 77 } } } };
    const strategy = { calls: { stepTokens: 99, queryTokens: 99 } };
    await scripted(runtime, script, { models, strategy }).run({ query: "?", context: "c" }).result;
    expect(Object.fromEntries(limits)).toEqual({ root: 99, sub: 77 });
  });

  test("decides how often an answer may be corrected", async () => {
    const rlm = scripted(runtime, [code("FINAL('no number')")], { strategy: { calls: { corrections: 0 } } });
    const { result } = await watch(rlm, { context: "c", schema: { type: "integer" } });
    expect(result).toMatchObject({ status: "partial", usage: { total: { llmCalls: 1 } } });
  });

  test("decides when an empty model is given up", async () => {
    const rlm = scripted(runtime, [""], { strategy: { guards: { emptyReplies: 1 } } });
    const { result } = await watch(rlm, { context: "c" });
    expect(result).toMatchObject({ status: "failed", usage: { total: { iterations: 1 } } });
  });
});
