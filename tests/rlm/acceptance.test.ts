// Known defects of other runtimes, tested with scripted models.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../internals.ts";
import { openTestRuntime } from "../open.ts";
import { code, isEnd, questionOf, type ScriptFunction, scripted, stepOf, watch } from "./scripting.ts";

let runtime: Runtime;
let folder: string;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 3 });
  folder = await mkdtemp(join(tmpdir(), "rlm-acceptance-"));
});
afterAll(async () => {
  await runtime.close();
  await rm(folder, { recursive: true, force: true });
});

const PRICE = { inputUsd: 1, outputUsd: 10, cacheReadUsd: 1, cacheWriteUsd: 1 };
const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

describe("limits over the whole tree", () => {
  /** A root with four children that call sub-models endlessly. */
  const insatiable: ScriptFunction = (request) => {
    const { model, maxTokens = 0 } = request;
    if (isEnd(request)) return { text: "what I have", usage: usage(300, 20) };
    if (model === "sub") return { text: "word ".repeat(20), usage: usage(50, Math.min(maxTokens, 5_000)) };
    if (questionOf(request).startsWith("child"))
      return { text: code("llm_query_batched([f'{i}' for i in range(8)])"), usage: usage(700, 40) };
    return { text: code("rlm_query_batched([f'child {i}' for i in range(4)])"), usage: usage(700, 40) };
  };

  test("a run with 0.50 USD spends at most that, and has an answer", async () => {
    const prices = { root: PRICE, sub: PRICE };
    const rlm = scripted(runtime, insatiable, { limits: { costUsd: 0.5 }, prices });
    const { result } = await watch(rlm);
    expect(result).toMatchObject({ status: "partial", stopReason: "costUsd", answer: "what I have" });
    expect(result.usage.total.costUsd).toBeLessThanOrEqual(0.5);
    expect(result.usage.total.costUsd).toBeGreaterThan(0.3);
  });

  test.each([3_000, 6_000, 30_000])("a run with %i tokens uses at most that, and has an answer", async (tokens) => {
    const { result } = await watch(scripted(runtime, insatiable, { limits: { tokens } }));
    expect(result).toMatchObject({ status: "partial", stopReason: "tokens", answer: "what I have" });
    expect(result.usage.total.tokens).toBeLessThanOrEqual(tokens);
  });

  test("calls at the deepest level are counted like all others", async () => {
    const script: ScriptFunction = (request) => {
      if (request.model === "sub") return { text: "leaf", usage: usage(100, 10) };
      return { text: stepOf(request) > 0 ? code("FINAL(a)") : code("a = rlm_query('go on')"), usage: usage(1_000, 50) };
    };
    const { result } = await watch(scripted(runtime, script, { limits: { maxDepth: 1 } }));
    expect(result.answer).toBe("leaf");
    expect(result.usage.total).toMatchObject({ tokens: 4 * 1_050 + 110, llmCalls: 5, iterations: 4 });
    expect(result.usage.byModel["sub"]).toMatchObject({ tokens: 110, llmCalls: 1 });
    expect(result.usage.byNode["n1"]).toMatchObject({ tokens: 2 * 1_050 + 110, llmCalls: 3 });
  });
});

test("variables of a block that raises are kept", async () => {
  const { result, observations } = await watch(
    scripted(runtime, [code("x = [1]\nx.append(2)\nraise ValueError('half')"), code("FINAL(x)")]),
  );
  expect(observations[0]).toContain("ValueError: half");
  expect(result).toMatchObject({ status: "final", data: [1, 2] });
});

describe("the context is loaded byte for byte", () => {
  const ODD = "\uFEFFa\r\nb\rc\n\n\u2028\u0085 x\u0000y \u{1F600}\u{1F3F4}\u200D\uFB03 e\u0301 \t\v\f end\r";
  const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  const look =
    "import hashlib\nFINAL(hashlib.sha256(context if isinstance(context, bytes) else context.encode()).hexdigest())";

  test.each([ODD, ODD.repeat(20_000)])("as a text", async (text) => {
    const { result } = await watch(scripted(runtime, [code(look)]), { context: text });
    expect(result.answer).toBe(digest(Buffer.from(text)));
  });

  test("as a file, also where it is not UTF-8", async () => {
    for (const bytes of [Buffer.from(ODD), Buffer.from([0x61, 0xff, 0xfe, 0x0d, 0x0a, 0x00, 0xc3])]) {
      const file = join(folder, "odd.txt");
      await writeFile(file, bytes);
      const { result } = await watch(scripted(runtime, [code(look)]), { context: { file } });
      expect(result.answer).toBe(digest(bytes));
    }
  });

  test("as several files", async () => {
    const all = { "a b.txt": Buffer.from(ODD), 'it"s.bin': Buffer.from([0xff, 0x00, 0x0d]) };
    const files = Object.entries(all).map(([name]) => ({ name, path: join(folder, name) }));
    for (const { name, path } of files) await writeFile(path, all[name as keyof typeof all]);
    const each =
      "{k: hashlib.sha256(v if isinstance(v, bytes) else v.encode()).hexdigest() for k, v in context.items()}";
    const { result } = await watch(scripted(runtime, [code(`import hashlib\nFINAL(${each})`)]), { context: { files } });
    expect(result.data).toEqual(Object.fromEntries(Object.entries(all).map(([name, bytes]) => [name, digest(bytes)])));
  });

  test("as JSON, integers of any size and nested values included", async () => {
    const json = { list: [1, 2.5, null, true, "\r\n"], nested: { "": { x: [] } } };
    const { result } = await watch(scripted(runtime, [code("FINAL(context)")]), { context: { json } });
    expect(result.data).toEqual(json);
  });
});

test("parallel children see and print only their own data", async () => {
  const script: ScriptFunction = (request) => {
    const child = /child (\d+)/.exec(questionOf(request))?.[1];
    if (child !== undefined) {
      if (stepOf(request) > 0) return code("FINAL([mine, context])");
      return code(
        `import os\nmine = ${child}\nfor i in range(50): print('c${child}', flush=True)\nos.environ['X'] = '${child}'\nopen('f', 'w').write('${child}')`,
      );
    }
    if (stepOf(request) > 0) return code("FINAL([a.data for a in answers])");
    return code(
      "import os\nprint('before'); mine = 'parent'\nanswers = rlm_query_batched([(f'child {i}', f'text {i}') for i in range(6)])\nprint('after', mine, os.environ.get('X'), os.path.exists('f'))",
    );
  };
  const { result, events } = await watch(scripted(runtime, script));
  expect(result.data).toEqual([0, 1, 2, 3, 4, 5].map((n) => [n, `text ${n}`]));
  const printed = events.flatMap((event) => (event.type === "code-end" ? [event.result.stdout] : []));
  const ofChildren = [0, 1, 2, 3, 4, 5].map((n) => `c${n}\n`.repeat(50));
  expect(printed.filter((text) => text !== "").toSorted()).toEqual(
    ["before\nafter parent None False\n", ...ofChildren].toSorted(),
  );
});

test("an error of a sub-model is raised, and never becomes text of an answer", async () => {
  const script: ScriptFunction = (request) => {
    if (request.model === "sub") return { error: { fault: "rate-limit", why: "HTTP 429: slow down", status: 429 } };
    if (stepOf(request) > 0) return code("FINAL(seen)");
    return code(
      "try:\n    seen = llm_query('x')\nexcept LLMError as e:\n    seen = [e.kind, e.retryable, '429' in str(e)]\nseen += [[a.text, a.ok, '429' in str(a.error)] for a in llm_query_batched(['y'])]",
    );
  };
  const { result } = await watch(scripted(runtime, script));
  expect(result.data).toEqual(["rate-limit", false, true, ["", false, true]]);
});

test("an endless block is interrupted, and the state is kept", async () => {
  const { result, observations } = await watch(
    scripted(runtime, [code("x = 1\nwhile True: x += 0"), code("FINAL(x)")], { cellTimeoutMs: 300 }),
  );
  expect(observations[0]).toContain("The code was stopped: timeout");
  expect(result).toMatchObject({ status: "final", data: 1 });
});
