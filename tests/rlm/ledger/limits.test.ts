import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTool, type RLMOptions, type RunEvent, type Runtime, ScriptedBackend } from "../../internals.ts";
import { MaxDepthExceeded, TokenBudgetExhausted, ToolBudgetExhausted } from "../../../src/errors.ts";
import { z } from "zod";
import type { RunResult } from "../../../src/protocol/runs.ts";
import type { ModelUsage } from "../../../src/protocol/usage.ts";
import { ManualClock } from "../../backends/dispatch/manual-clock.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, lastOf, questionOf, type ScriptFunction, scripted, stepOf, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 3 });
});
afterAll(() => runtime.close());

const PRICE = { inputUsd: 1, outputUsd: 10, cacheReadUsd: 1, cacheWriteUsd: 1 };
const prices = { root: PRICE, sub: PRICE };
const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
const tool = defineTool({
  name: "add",
  description: "Adds.",
  schema: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => a + b,
});

function expectSums({ usage: { total, byNode, byModel, byRole } }: RunResult): void {
  const sum = (all: Readonly<Record<string, ModelUsage>>, key: keyof ModelUsage): number =>
    Object.values(all).reduce((value, spent) => value + (spent[key] ?? 0), 0);
  for (const key of ["tokens", "llmCalls", "inputTokens", "outputTokens", "cachedCalls"] as const) {
    expect(sum(byNode, key)).toBe(total[key]);
    expect(sum(byModel, key)).toBe(total[key]);
    expect(sum(byRole, key)).toBe(total[key]);
  }
  expect(sum(byNode, "costUsd")).toBeCloseTo(total.costUsd ?? 0, 9);
  expect(sum(byModel, "costUsd")).toBeCloseTo(total.costUsd ?? 0, 9);
  expect(sum(byNode, "toolCalls")).toBe(total.toolCalls);
  expect(sum(byNode, "iterations")).toBe(total.iterations);
}

/** The usage of all calls, failed ones included, adds up to the usage of the run. */
function expectSumOfCalls({ usage: { total } }: RunResult, events: readonly RunEvent[]): void {
  for (const key of ["tokens", "estimatedTokens", "llmCalls"] as const) {
    const spent = events.map((event) => (event.type === "model-call-end" ? event.usage[key] : 0));
    expect(spent.reduce((sum, value) => sum + value, 0)).toBe(total[key]);
  }
}

test.each([
  ["zeros", usage(0, 0), { llmCalls: 10, tokens: 30_000 }, "llmCalls"],
  ["zeros", usage(0, 0), { tokens: 3_000 }, "tokens"],
  ["an absurd cost", { costUsd: 1e300 }, { costUsd: 1 }, "costUsd"],
  ["absurd tokens", usage(1e300, 1e300), { tokens: 10_000 }, "tokens"],
])("limits hold with a provider that reports %s: %j, %j", async (_, reported, limits, stopReason) => {
  let asked = 0;
  const script: ScriptFunction = (request) => {
    asked += 1;
    if (isEnd(request)) return { text: "enough", usage: reported };
    return { text: request.model === "sub" ? "yes" : code("for n in range(400): llm_query(str(n))"), usage: reported };
  };
  const run = await watch(scripted(runtime, script, { prices, limits }));
  expect(run.result).toMatchObject({ stopReason });
  expect(run.result.usage.total.llmCalls).toBe(asked);
  expect(asked).toBeLessThan(300);
  expectSums(run.result);
  expectSumOfCalls(run.result, run.events);
});

test("calls that the provider turns away cost nothing, but they are calls", async () => {
  let asked = 0;
  const script: ScriptFunction = (request) => {
    asked += 1;
    if (isEnd(request)) return { text: "enough", usage: usage(9, 1) };
    if (request.model === "sub") return { error: { fault: "bad-request" } };
    return { text: code("for _ in range(20): llm_query_batched(['x'] * 5)"), usage: usage(100, 10) };
  };
  const { result, events } = await watch(scripted(runtime, script, { limits: { llmCalls: 20 } }));
  expect(result).toMatchObject({ stopReason: "llmCalls", answer: "enough" });
  // One call of those that are kept for finishing was not needed.
  expect(result.usage.total).toMatchObject({ llmCalls: 19, tokens: 120 });
  expect(asked).toBe(19);
  expectSums(result);
  expectSumOfCalls(result, events);
});

describe("200 calls at once", () => {
  const greedy: ScriptFunction = (request) => {
    if (isEnd(request)) return { text: "enough", usage: usage(400, 10) };
    if (request.model === "sub") return { text: "y".repeat(80), usage: usage(20, request.maxTokens ?? 0) };
    return {
      text: code("r = llm_query_batched([f'q{i}' for i in range(200)]); print(sum(a.ok for a in r))"),
      usage: usage(800, 60),
    };
  };

  test.each([
    ["tokens", { tokens: 50_000 }],
    ["costUsd", { costUsd: 0.4 }],
    ["llmCalls", { llmCalls: 50 }],
  ] as const)("stay under a limit of %s, and the run has an answer", async (axis, limits) => {
    const { result } = await watch(scripted(runtime, greedy, { limits, prices }));
    expect(result).toMatchObject({ status: "partial", stopReason: axis, answer: "enough" });
    expect(result.usage.total[axis]).toBeLessThanOrEqual(Object.values(limits)[0] as number);
    expectSums(result);
  });

  test("of a model that exceeds its output limit are reported in full, and the run has an answer", async () => {
    const script: ScriptFunction = (request, n) => {
      const reply = greedy(request, n);
      return request.model === "sub" ? { text: "z", usage: usage(20, (request.maxTokens ?? 0) + 300) } : reply;
    };
    const { result } = await watch(scripted(runtime, script, { limits: { tokens: 200_000 } }));
    expect(["partial", "failed"]).toContain(result.status);
    expectSums(result);
  });
});

test.each([1, 2, 3])("a run that may make %i calls has an answer", async (llmCalls) => {
  const script: ScriptFunction = (request) => (isEnd(request) ? "that is it" : code("print(1)"));
  const { result } = await watch(scripted(runtime, script, { limits: { llmCalls } }));
  expect(result).toMatchObject({ status: "partial", stopReason: "llmCalls", answer: "that is it" });
  expect(result.usage.total.llmCalls).toBe(llmCalls);
});

test.each([2_500, 4_000, 8_000, 20_000])("a long history leaves an answer under %i tokens", async (tokens) => {
  const script: ScriptFunction = (request) =>
    isEnd(request)
      ? { text: "short", usage: usage(300, 5) }
      : { text: code("print('w ' * 4000)"), usage: usage(900, 20) };
  const { result } = await watch(scripted(runtime, script, { limits: { tokens } }));
  expect(result).toMatchObject({ status: "partial", stopReason: "tokens", answer: "short" });
});

test("attempts of one call are reserved one by one", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request)) return { text: "after all", usage: usage(300, 5) };
    if (request.model === "sub")
      return { text: "x".repeat(4_000), error: { fault: "malformed", retryable: true }, usage: null };
    return { text: code("r = llm_query_batched([f'{i}' * 4000 for i in range(30)])"), usage: usage(800, 30) };
  };
  const dispatcher = { firstDelayMs: 1, maxTries: 4 };
  const { result, events } = await watch(scripted(runtime, script, { limits: { tokens: 60_000 }, dispatcher }));
  expect(result).toMatchObject({ status: "partial", answer: "after all" });
  expect(result.usage.total.tokens).toBeLessThanOrEqual(60_000);
  expect(result.usage.total.estimatedTokens).toBeGreaterThan(30_000);
  expectSums(result);
  expectSumOfCalls(result, events);
});

test("a child that uses up the run leaves its parent an answer", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request)) return questionOf(request).startsWith("eat") ? "child's end" : "root's end";
    if (questionOf(request).startsWith("eat")) return code("llm_query_batched([f'{i}' for i in range(20)])");
    if (request.model === "sub") return { text: "n", usage: usage(10, request.maxTokens ?? 0) };
    return code("a = rlm_query('eat it all'); print('got', a)");
  };
  const { result } = await watch(scripted(runtime, script, { limits: { tokens: 40_000 } }));
  expect(result).toMatchObject({ status: "partial", stopReason: "tokens", answer: "root's end" });
  expect(result.usage.total.tokens).toBeLessThanOrEqual(40_000);
});

test("steps of all nodes count together, and at their limit every node has an answer", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request)) return `end of ${questionOf(request)}`;
    return code(questionOf(request) === "?" ? "print(rlm_query_batched(['a', 'b']))" : "x = 1");
  };
  const { result } = await watch(scripted(runtime, script, { limits: { iterations: 7 } }));
  expect(result).toMatchObject({ status: "partial", stopReason: "iterations", answer: "end of ?" });
  expect(result.usage.total.iterations).toBe(7);
  expect(result.usage.total.llmCalls).toBe(7 + 3);
  expectSums(result);
});

test("a grant limits a child, which ends with an answer, and the run continues", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request)) return "what the child has";
    if (questionOf(request) === "small") return code("print(budget()['llm_calls'])");
    if (stepOf(request) > 0) return code("FINAL([str(a), a.truncated, b['llm_calls']['limit']])");
    return code("a = rlm_query('small', budget={'llm_calls': 3, 'tokens': 50000}); b = budget()");
  };
  const { result, events } = await watch(scripted(runtime, script, { limits: { llmCalls: 100 } }));
  expect(result).toMatchObject({ status: "final", data: ["what the child has", true, 100] });
  expect(result.usage.byNode["n1"]?.llmCalls).toBe(3);
  const printed = events.flatMap((event) =>
    event.type === "code-end" && event.nodeId === "n1" ? [event.result.stdout.trim()] : [],
  );
  expect(printed).toEqual(["{'used': 1, 'limit': 3, 'left': 1}", "{'used': 2, 'limit': 3, 'left': 0}"]);
  const lines = events.flatMap((event) =>
    event.type === "model-call-start" && event.nodeId === "n1" ? [event.messages.at(-1)?.content ?? ""] : [],
  );
  expect(lines[1]).toContain("1 calls of models");
});

test("budget() has what is used and left of every limit, at every depth", async () => {
  const script: ScriptFunction = (request) => {
    if (questionOf(request) === "deeper") return code("FINAL(budget())");
    if (stepOf(request) > 0) return code("FINAL({'child': a.data, 'root': b})");
    return code("add(1, 2)\nb = budget()\na = rlm_query('deeper')");
  };
  const limits = { tokens: 100_000, costUsd: 2, llmCalls: 20, toolCalls: 4, iterations: 9, wallMs: 60_000 };
  const { result } = await watch(scripted(runtime, script, { limits, prices, tools: [tool] }));
  const { root, child } = result.data as Record<
    "root" | "child",
    Record<string, { used: number; limit: number; left: number }>
  >;
  for (const budget of [root, child]) {
    expect(Object.keys(budget).toSorted()).toEqual([
      "cost_usd",
      "iterations",
      "llm_calls",
      "seconds",
      "tokens",
      "tool_calls",
    ]);
    expect(budget["seconds"]?.limit).toBe(60);
    expect(budget["tool_calls"]).toEqual({ used: 1, limit: 4, left: 3 });
    expect(budget["tokens"]?.left).toBeLessThan(90_001);
  }
  expect(root["llm_calls"]).toEqual({ used: 1, limit: 20, left: 17 });
  expect(child["llm_calls"]).toEqual({ used: 2, limit: 20, left: 16 });
  expect(child["iterations"]).toEqual({ used: 2, limit: 9, left: 7 });
});

test("a limit is reported once at 80 %, and once when it is reached", async () => {
  const script: ScriptFunction = (request) => (isEnd(request) ? "end" : code("print(1)"));
  const { events } = await watch(scripted(runtime, script, { limits: { llmCalls: 10, iterations: 100 } }));
  const notices = events.flatMap((event) =>
    event.type === "limit-warning" || event.type === "limit-reached" ? [[event.type, event.axis, event.used]] : [],
  );
  expect(notices).toEqual([
    ["limit-warning", "llmCalls", 8],
    ["limit-reached", "llmCalls", 9],
  ]);
});

describe("onLimit: throw", () => {
  const thrown = async (script: ScriptFunction, options: Partial<RLMOptions>): Promise<[unknown, RunEvent[]]> => {
    const run = scripted(runtime, script, { onLimit: "throw", ...options }).run({ query: "?" });
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    return [
      await run.result.then(
        () => undefined,
        (error: unknown) => error,
      ),
      events,
    ];
  };

  test("raises TokenBudgetExhausted with what was used and the best answer", async () => {
    const [error, events] = await thrown((request) => (isEnd(request) ? "half" : code("print(1)")), {
      limits: { tokens: 10_000 },
    });
    expect(error).toBeInstanceOf(TokenBudgetExhausted);
    expect(error).toMatchObject({ limit: 10_000, partial: "half", used: expect.any(Number) });
    expect((error as TokenBudgetExhausted).used).toBeLessThanOrEqual(10_000);
    expect(events.at(-1)?.type).toBe("run-end");
  });

  test("raises ToolBudgetExhausted, as soon as a tool is refused", async () => {
    const [error] = await thrown((request) => (isEnd(request) ? "half" : code("for i in range(5): add(i, 1)")), {
      limits: { toolCalls: 3 },
      tools: [tool],
    });
    expect(error).toBeInstanceOf(ToolBudgetExhausted);
    expect(error).toMatchObject({ used: 3, limit: 3, partial: "half" });
  });

  test("raises MaxDepthExceeded where a child would be too deep", async () => {
    const [error, events] = await thrown(() => code("rlm_query('deeper')"), { limits: { maxDepth: 2 } });
    expect(error).toBeInstanceOf(MaxDepthExceeded);
    expect(error).toMatchObject({ depth: 3, limit: 2 });
    expect(events.at(-1)?.type).toBe("run-end");
  });
});

test("without it a refused tool is an error in the code, and the run continues", async () => {
  const script = [
    code("n = 0\ntry:\n    for i in range(5): n = add(i, 1)\nexcept LimitError as e: why = str(e)"),
    code("FINAL([n, why])"),
  ];
  const { result } = await watch(scripted(runtime, script, { limits: { toolCalls: 3 }, tools: [tool] }));
  expect(result).toMatchObject({ status: "final", data: [3, expect.stringContaining("this needs 1 call of a tool")] });
});

test("identical calls are made once and then answered from the cache, at no cost", async () => {
  const backend = new ScriptedBackend(
    (request) => {
      if (request.model === "sub") return { text: `${lastOf(request)} ${Math.random()}`, usage: usage(10, 10) };
      if (stepOf(request) > 0) return code("FINAL(r)");
      return code(
        "r = [str(a) for a in llm_query_batched(['same'] * 5)] + [str(llm_query('same')), llm_query('same').cached]",
      );
    },
    { name: `cached-${process.pid}-${Date.now()}` },
  );
  const rlm = runtime.rlm({ backend, model: "root", subModel: "sub", mode: "rlm", log: false, cache: true });
  const first = await rlm.run({ query: "?" }).result;
  expect(new Set((first.data as unknown[]).slice(0, 6)).size).toBe(1);
  expect(first.usage.byModel["sub"]).toMatchObject({ llmCalls: 1, cachedCalls: 6, tokens: 20 });
  expectSums(first);
  const second = await rlm.run({ query: "?" }).result;
  expect(second.data).toEqual([...(first.data as unknown[]).slice(0, 6), true]);
  expect(second.usage.total).toMatchObject({ llmCalls: 0, tokens: 0, costUsd: 0 });
});

test("calls in flight at the end of the time are aborted and counted, and the run has an answer", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request)) return { text: "in time", usage: usage(100, 5) };
    if (request.model === "sub") return new Promise<string>(() => {});
    return { text: code("llm_query_batched([f'slow {i}' for i in range(50)])"), usage: usage(800, 20) };
  };
  const clock = new ManualClock();
  const isWaiting = (events: readonly RunEvent[]): boolean =>
    events.filter(({ type }) => type === "model-call-start").length === 51;
  const { result, events } = await watch(
    scripted(runtime, script, { limits: { tokens: 2_000_000, wallMs: 10_000 }, clock }),
    {},
    (_, seen) => isWaiting(seen) && clock.goTo(9_000),
  );
  expect(result).toMatchObject({ status: "partial", stopReason: "wallMs", answer: "in time" });
  expect(result.usage.wallMs).toBe(9_000);
  expectSums(result);
  expectSumOfCalls(result, events);
  const count = (type: RunEvent["type"]): number => events.filter((event) => event.type === type).length;
  expect(count("model-call-end")).toBe(count("model-call-start"));
  expect(count("model-call-start")).toBe(52);
  expect(events.at(-1)?.type).toBe("run-end");
});

test("code that ignores an interrupt does not keep a run from its answer", async () => {
  const deaf =
    "import time\nwhile True:\n    try:\n        print('on', flush=True)\n        time.sleep(100)\n    except KeyboardInterrupt:\n        pass";
  const script: ScriptFunction = (request) => (isEnd(request) ? "in time" : code(deaf));
  const clock = new ManualClock();
  const { result } = await watch(
    scripted(runtime, script, { limits: { wallMs: 10_000 }, clock }),
    {},
    ({ type }) => type === "output-delta" && clock.goTo(9_000),
  );
  expect(result).toMatchObject({ status: "partial", stopReason: "wallMs", answer: "in time" });
});

test("calls of threads are aborted and counted before the run ends with its answer", async () => {
  const script: ScriptFunction = (request) => {
    if (request.model === "sub") return new Promise<string>(() => {});
    return code(
      "import threading, time\nfor i in range(5): threading.Thread(target=lambda i=i: llm_query(f'late {i}'), daemon=True).start()\nwhile budget()['llm_calls']['left'] > 84: time.sleep(0.01)\nFINAL('done')",
    );
  };
  const { result, events } = await watch(scripted(runtime, script, { limits: { llmCalls: 100 } }));
  expect(result).toMatchObject({ status: "final", answer: "done" });
  const ends = events.filter(({ type }) => type === "model-call-end");
  expect(ends).toHaveLength(6);
  expect(events.at(-1)?.type).toBe("run-end");
  expectSums(result);
});

test("a grant of time ends an endless child with an answer, and the run continues", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request)) return "as far as I got";
    if (questionOf(request) === "quick") return code("print('on', flush=True)\nwhile True: pass");
    if (stepOf(request) > 0) return code("FINAL([str(a), a.truncated])");
    return code("a = rlm_query('quick', budget={'seconds': 0.6})");
  };
  const clock = new ManualClock();
  const { result } = await watch(
    scripted(runtime, script, { clock }),
    {},
    ({ type }) => type === "output-delta" && clock.goTo(540),
  );
  expect(result).toMatchObject({ status: "final", data: ["as far as I got", true] });
});

test("a child that a limit leaves without an answer raises LimitError", async () => {
  const script: ScriptFunction = (request) => {
    if (questionOf(request) === "none") return isEnd(request) ? { text: "", finishReason: "length" } : code("1");
    if (stepOf(request) > 0) return code("FINAL(seen)");
    return code("try: rlm_query('none', budget={'iterations': 1})\nexcept LimitError as e: seen = e.kind");
  };
  expect((await watch(scripted(runtime, script))).result.data).toBe("limit");
});
