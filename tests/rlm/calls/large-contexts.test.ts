// Contexts of children that are too large for a message, or no text.

import { readdirSync, readlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RLMOptions, Runtime } from "../../internals.ts";
import { hasPyodide, installWasm } from "../../environments/wasm/open-wasm.ts";
import { openTestRuntime } from "../../open.ts";
import { code, questionOf, scripted, type ScriptFunction, stepOf, type Watched, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 3 });
});
afterAll(() => runtime.close());

/** The root runs a block and gives `seen`; children run the code that they are asked to. */
function play(block: string, options: Partial<RLMOptions> = {}, on = runtime): Promise<Watched> {
  const script: ScriptFunction = (request) => {
    const question = questionOf(request);
    if (question !== "?") return code(question);
    return stepOf(request) > 0 ? code("FINAL(seen)") : code(block);
  };
  return watch(scripted(on, script, options));
}

/** Anonymous files that this process has open. */
const openFiles = (): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes("(deleted)");
    } catch {
      return false;
    }
  }).length;

const FACTS = "FINAL([type(context).__name__, len(context), context[:3], context[-3:]])";

describe("the context of a child", () => {
  test("may be a text of any size, and keeps every character", async () => {
    const before = openFiles();
    const { result, events } = await play(
      `seen = rlm_query("FINAL([len(context), context == 'aé😀' * 700_000 + 'end'])", 'aé😀' * 700_000 + 'end').data`,
    );
    expect(result.data).toEqual([2_100_003, true]);
    const started = events.find((event) => event.type === "node-start" && event.nodeId === "n1");
    expect(started).toMatchObject({ context: [{ name: "context", kind: "text", bytes: 4_900_003 }] });
    expect(openFiles()).toBeLessThanOrEqual(before);
  });

  test("may be bytes, which become text where they are UTF-8", async () => {
    const { result } = await play(
      `seen = [r.data for r in rlm_query_batched([("FINAL([type(context).__name__, len(context)])", b) for b in (b'abc', b'a' * 3_000_000, b'\\xff\\xfe', bytearray(b'\\xff') * 3_000_000, memoryview(b'\\x80abc'))])]`,
    );
    expect(result.data).toEqual([
      ["str", 3],
      ["str", 3_000_000],
      ["bytes", 2],
      ["bytes", 3_000_000],
      ["bytes", 4],
    ]);
  });

  test("may be data with many values, which integers of any size survive", async () => {
    const { result } = await play(
      `rows = [[n] for n in range(260_000)] + [10 ** 30]\nseen = rlm_query("FINAL([len(context), context[259_999], context[-1] == 10 ** 30])", rows).data`,
    );
    expect(result.data).toEqual([260_001, [259_999], true]);
  });

  test("may be a dict of files, also of bytes", async () => {
    const { result } = await play(
      `files = {'b.txt': 'é' * 3_000_000, '1': '', 'a.bin': b'\\xff', 'c.txt': b'text'}\nseen = rlm_query("FINAL([[name, type(text).__name__, len(text)] for name, text in context.items()])", files).data`,
    );
    expect(result.data).toEqual([
      ["b.txt", "str", 3_000_000],
      ["1", "str", 0],
      ["a.bin", "bytes", 1],
      ["c.txt", "str", 4],
    ]);
  });

  test("is sent once for all tasks that share it, also by coroutines", async () => {
    const before = openFiles();
    const { result } = await play(
      `text = 'x' * 8_000_000\nticks = 0\nimport asyncio\nasync def tick():\n  global ticks\n  while True:\n    ticks += 1\n    await asyncio.sleep(0)\nother = asyncio.ensure_future(tick())\nr = await rlm_query_batched_async([("FINAL(len(context) + %d)" % n, text) for n in range(3)])\nother.cancel()\nseen = [[x.data for x in r], ticks > 10]`,
    );
    expect(result.data).toEqual([[8_000_000, 8_000_001, 8_000_002], true]);
    expect(openFiles()).toBeLessThanOrEqual(before);
  });

  test("is sent by a coroutine after a call that held up its event loop", async () => {
    const { result } = await play(
      `import asyncio\nasync def blocking(): return rlm_query("FINAL(len(context))", 'y' * 3_000_000)\nr = await asyncio.gather(rlm_query_async("FINAL(len(context))", 'x' * 4_000_000), blocking())\nseen = [x.data for x in r]`,
    );
    expect(result.data).toEqual([4_000_000, 3_000_000]);
  });

  test("is loaded again after its variables were lost", async () => {
    const script: ScriptFunction = (request) => {
      if (questionOf(request) === "child") {
        return stepOf(request) === 0 ? code("import os; os._exit(1)") : code("FINAL(len(context))");
      }
      return stepOf(request) > 0 ? code("FINAL(seen)") : code("seen = rlm_query('child', 'x' * 3_000_000).data");
    };
    expect((await watch(scripted(runtime, script))).result.data).toBe(3_000_000);
  });

  test("has no failed call in it", async () => {
    const script: ScriptFunction = (request) => {
      if (request.model === "sub") return { text: "It", finishReason: "refusal" };
      return stepOf(request) > 0 ? code("FINAL('later')") : code("rlm_query('sum up', llm_query_batched(['a', 'b']))");
    };
    const { observations } = await watch(scripted(runtime, script));
    expect(observations[0]).toContain("LLMError: item 0 of the batch of 2 failed (refusal)");
  });

  test("is refused where a child is a single model call", async () => {
    const { result } = await play(
      "r = rlm_query_batched([('a', 'x' * 3_000_000), ('b', b'\\xff'), ('c', 'x')])\nseen = [[x.ok, x.degraded, x.ok or [x.error.kind, str(x.error)]] for x in r]",
      { limits: { maxDepth: 0 } },
    );
    const why = expect.stringContaining("at this depth rlm_query is a single model call");
    expect(result.data).toEqual([
      [false, true, ["context-too-long", why]],
      [false, true, ["context-too-long", why]],
      [true, true, true],
    ]);
  });
});

test.skipIf(!hasPyodide)("a large context travels in wasm, too", { tags: "stress" }, async () => {
  installWasm();
  await using wasm = await openTestRuntime({ environment: "wasm" });
  const { result } = await play(
    `seen = [rlm_query("${FACTS}", 'x' * 3_000_000).data, (await rlm_query_async("${FACTS}", 'y' * 3_000_000)).data]`,
    {},
    wasm,
  );
  expect(result.data).toEqual([
    ["str", 3_000_000, "xxx", "xxx"],
    ["str", 3_000_000, "yyy", "yyy"],
  ]);
});

test("a gigabyte reaches a child, and takes no memory of the host", { tags: "stress" }, async () => {
  await using large = await openTestRuntime({ poolSize: 1, limits: { memoryBytes: 4 * 1024 ** 3 } });
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  const { result } = await play(`seen = rlm_query("${FACTS}", 'x' * 1_000_000_000 + 'end').data`, {}, large);
  clearInterval(timer);
  expect(result.data).toEqual(["str", 1_000_000_003, "xxx", "end"]);
  expect(most - before).toBeLessThan(500_000_000);
});
