import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StrategyChanges } from "../../../src/protocol/strategy/strategy.ts";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, lastOf, scripted, type ScriptFunction, watch } from "../scripting.ts";
import { SmallWindow } from "./small-window.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

const STEPS = 30;

/** Reads 30 pages, one in each step, and counts in a variable. It knows where it is from what it was shown last. */
const reads: ScriptFunction = (request) => {
  if (isEnd(request)) return "no idea";
  const [, block = "0"] = /Output of block (\d+)/.exec(lastOf(request)) ?? [];
  const n = Number(block);
  if (n === STEPS) return code("FINAL([total, _history[2]['code'], _history[3]['output']])");
  return `Page ${n + 1} is next.\n\`\`\`repl\n${n === 0 ? "total = 0\n" : ""}page = ${n + 1}\nprint('line of page', page, 'x' * 700)\ntotal += page\n\`\`\``;
};

async function run(model: SmallWindow, strategy: StrategyChanges = {}, script = reads) {
  const rlm = scripted(runtime, script, { backend: model, strategy, limits: { maxIterations: STEPS + 1 } });
  const watched = await watch(rlm, { context: "c" });
  const compactions = watched.events.filter((event) => event.type === "compaction");
  return { ...watched, compactions };
}

describe("a conversation that nears the window of its model", () => {
  test("has its old steps in a summary: live variables, and the steps whole in _history", async () => {
    const model = new SmallWindow(8_000, { script: reads });
    const { result, compactions } = await run(model);
    expect(result).toMatchObject({ status: "final", usage: { total: { iterations: STEPS + 1 } } });
    expect(result.data).toEqual([
      (STEPS * (STEPS + 1)) / 2,
      "page = 2\nprint('line of page', page, 'x' * 700)\ntotal += page",
      expect.stringMatching(/^Output of block 3:\nline of page 3 x+$/),
    ]);
    expect(Math.max(...model.tokens)).toBeLessThan(8_000);
    expect(compactions.length).toBeGreaterThan(1);
    for (const { tokensBefore, tokensAfter } of compactions) expect(tokensAfter).toBeLessThan(tokensBefore / 2);
  });

  test("goes on where code has broken what is needed for _history, and the summary does not promise it", async () => {
    const script: ScriptFunction = (request, n) => {
      const reply = reads(request, n);
      return typeof reply !== "string"
        ? reply
        : reply
            .replace("total = 0", "import rlm_blocks, rlm_session\nrlm_blocks.remember = None\ntotal = 0")
            .replace(/FINAL.*/, "FINAL(total)");
    };
    const model = new SmallWindow(8_000, { script });
    const { result, compactions } = await run(model, {}, script);
    expect(result).toMatchObject({ status: "final", data: (STEPS * (STEPS + 1)) / 2 });
    expect(compactions.length).toBeGreaterThan(1);
    expect(JSON.stringify(model.answered)).not.toContain("_history[n]");
  });

  test("keeps its prompt, its newest steps, and who speaks in turn", async () => {
    const model = new SmallWindow(8_000, { script: reads });
    await run(model);
    const [first] = model.answered;
    const compacted = model.answered.find((messages) => messages[3]?.content.startsWith("[host] steps 1 to"));
    expect(compacted?.slice(0, 2)).toEqual(first);
    expect(compacted?.map(({ role }) => role)).toEqual([
      "system",
      ...Array.from({ length: (compacted?.length ?? 0) - 1 }, (_, n) => (n % 2 === 0 ? "user" : "assistant")),
    ]);
    const [last] = /Output of block \d+/.exec(compacted?.at(-1)?.content ?? "") ?? [];
    const before = model.answered[model.answered.indexOf(compacted ?? []) - 1];
    expect(compacted?.slice(-2)[0]?.content).toContain("Page ");
    expect(before?.at(-1)?.content).not.toContain(last);
    const summary = compacted?.[3]?.content.split("\n") ?? [];
    expect(summary[0]).toMatch(
      /^\[host\] steps 1 to \d+ were replaced by this summary, to make room\. Whole, they are in _history\[n\]/,
    );
    expect(summary[1]).toMatch(/^… \d earlier steps …$/);
    expect(summary[2]).toMatch(
      /^(\d+): "Page \1 is next\." · code "page = \1" of 3 lines · shown "line of page \1 x+…" of 7\d\d characters$/,
    );
    expect(summary).toContain("[host] your variables now:");
    expect(summary).toContainEqual(expect.stringMatching(/^total: int \(no length\) = \d+$/));
  });

  test("is compacted at the same steps where it is repeated from the cache", async () => {
    const model = new SmallWindow(8_000, { script: reads });
    const limits = { maxIterations: STEPS + 1 };
    const repeat = () => watch(scripted(runtime, reads, { backend: model, cache: true, limits }), { context: "again" });
    const first = await repeat();
    const second = await repeat();
    expect(second.result.data).toEqual(first.result.data);
    expect(second.result.usage.total).toMatchObject({ llmCalls: 0, cachedCalls: STEPS + 1 });
  });

  test("ends without an answer where compaction is off", async () => {
    const model = new SmallWindow(8_000, { script: reads });
    const { result, compactions } = await run(model, { compaction: { atWindowShare: 0 } });
    expect(compactions).toEqual([]);
    expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "no idea" });
    expect(result.usage.total.iterations).toBeLessThan(STEPS);
  });
});

describe("a conversation that is refused as too long", () => {
  test("is compacted, and asked once more: nobody knew the window", async () => {
    const model = new SmallWindow(6_000, { isKnown: false, script: reads });
    const { result, compactions } = await run(model);
    expect(result.status).toBe("final");
    expect(result.data).toEqual(expect.arrayContaining([(STEPS * (STEPS + 1)) / 2]));
    expect(compactions).toHaveLength(model.tokens.filter((tokens) => tokens > 6_000).length);
  });

  test("ends where there is nothing left to replace", async () => {
    const model = new SmallWindow(500, { isKnown: false, script: reads });
    const { result, compactions } = await run(model);
    expect(compactions).toEqual([]);
    expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "no idea" });
  });
});

test("the history of a session is there again after its process has died", async () => {
  const dies: ScriptFunction = (request, n) => {
    if (n < 24) return reads(request, n);
    return n === 24
      ? code("import os; os._exit(1)")
      : code("FINAL([len(_history), _history[1]['code'], 'total' in globals()])");
  };
  const model = new SmallWindow(8_000, { script: dies });
  const { result, compactions } = await run(model, {}, dies);
  expect(result.data).toEqual([compactions.at(-1)?.replaced, expect.stringMatching(/^total = 0\n/), false]);
});

test("what a model is shown at once fits its window", async () => {
  const prints: ScriptFunction = (request) =>
    isEnd(request) ? "no idea" : lastOf(request).includes("block 2") ? code("FINAL(1)") : code("print('x ' * 20_000)");
  const ask = async (strategy: StrategyChanges) => {
    const model = new SmallWindow(4_000, { script: prints });
    const rlm = scripted(runtime, prints, { backend: model, strategy });
    return (await watch(rlm, { context: "c" })).result;
  };
  expect(await ask({})).toMatchObject({ status: "final", answer: "1" });
  const off = { observations: { windowShare: 0 }, compaction: { atWindowShare: 0 } };
  expect(await ask(off)).toMatchObject({ status: "partial", answer: "no idea" });
});
