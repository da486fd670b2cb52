import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted, watch } from "../scripting.ts";

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
