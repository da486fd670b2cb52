// How a run ends at a limit or an error: with the best answer from what was seen, which is never code.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, lastOf, scripted, stepOf, watch, type Script, type ScriptFunction } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 1 });
});
afterAll(() => runtime.close());

const run = (script: Script, options = {}) =>
  watch(scripted(runtime, script, { dispatcher: { firstDelayMs: 1, maxTries: 2 }, ...options }));

describe("an answer at a limit", () => {
  /** Looks once; at the limit it gives these replies. */
  const atLimit =
    (...replies: string[]): ScriptFunction =>
    (request) =>
      isEnd(request) || lastOf(request).includes("No code is run any more")
        ? (replies.shift() ?? "")
        : code("total = 3\ntotal");
  const limits = { maxIterations: 1 };

  test("that is code is asked for again", async () => {
    const { result } = await run(atLimit(code("FINAL(total)"), "It is 3"), { limits });
    expect(result).toMatchObject({ status: "partial", stopReason: "iterations", answer: "It is 3" });
    expect(result.usage.total.llmCalls).toBe(3);
  });

  test("that is a plain value in a block is read", async () => {
    const { result } = await run(atLimit(code("FINAL('three')")), { limits });
    expect(result).toMatchObject({ status: "partial", answer: "three" });
  });

  test("that is always code is none", async () => {
    const { result } = await run(atLimit("FINAL(total)", "FINAL_VAR(total)"), { limits });
    expect(result).toMatchObject({ status: "failed", stopReason: "iterations", answer: null });
    expect(result.why).toContain("code instead of an answer");
  });

  test("that is code is none where there is no call left to ask again", async () => {
    const script: ScriptFunction = (request) => (isEnd(request) ? code("FINAL(total)") : code("total = 3"));
    const { result } = await run(script, { limits: { llmCalls: 2 } });
    expect(result).toMatchObject({ status: "failed", stopReason: "llmCalls", answer: null });
    expect(result.why).toContain("code instead of an answer");
  });

  test("follows the schema", async () => {
    const rlm = scripted(runtime, atLimit(code("SUBMIT(n=total)"), '```json\n{"n": 3}\n```'), { limits });
    const { result } = await watch(rlm, { schema: { type: "object", properties: { n: { type: "integer" } } } });
    expect(result).toMatchObject({ status: "partial", data: { n: 3 } });
  });
});

describe("after something was seen, an answer is still asked for", () => {
  const failing =
    (error: object, end: ReturnType<ScriptFunction>): ScriptFunction =>
    (request) =>
      isEnd(request) ? end : stepOf(request) < 2 ? code("print('seen')") : error;

  test.each([
    ["refusal", { error: { fault: "refusal", why: "the request was refused" } }],
    ["filter", { text: "", finishReason: "refusal" }],
    ["server", { error: { fault: "server", status: 503, retryable: true, why: "the provider failed (HTTP 503)" } }],
    ["malformed", { error: { fault: "malformed", why: "the answer cannot be read" } }],
    ["connection", { error: { fault: "connection", retryable: true, why: "the connection failed" } }],
    ["empty", { text: "" }],
  ])("where a step ended in a fault of kind %s", async (_, fault) => {
    const { result } = await run(failing(fault, "what I have"));
    expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "what I have" });
    expect(result.why).toMatch(/refused|503|cannot be read|connection|empty/);
  });

  test("and a conversation that is refused is tried without its last part", async () => {
    const script: ScriptFunction = (request) => {
      const isRefused = request.messages.some(({ content }) => content.includes("poison"));
      if (isRefused) return { error: { fault: "refusal", why: "the request was refused" } };
      if (isEnd(request)) return `seen: ${/fine/.test(lastOf(request))}`;
      return stepOf(request) === 0 ? code("print('fine')") : code("print('poi' + 'son')");
    };
    expect((await run(script)).result).toMatchObject({ status: "partial", answer: "seen: true" });
  });

  test("and both reasons are given where that fails as well", async () => {
    const server = { error: { fault: "server", status: 503, why: "overloaded" } } as const;
    const { result } = await run(failing({ error: { fault: "malformed", why: "unreadable" } }, server));
    expect(result).toMatchObject({ status: "failed", stopReason: "error", answer: null });
    expect(result.why).toMatch(/unreadable.*overloaded/);
    const same = await run(failing(server, server));
    expect(same.result.why?.match(/overloaded/g)).toHaveLength(1);
  });

  test.each([
    ["authentication", 2],
    ["server", 0],
  ] as const)("but not after a fault of kind %s in step %i", async (fault, step) => {
    const { result } = await run((request) =>
      isEnd(request) ? "never" : stepOf(request) < step ? code("1") : { error: { fault, why: "that is why" } },
    );
    expect(result).toMatchObject({ status: "failed", stopReason: "error", answer: null });
    expect(result.why).toContain("that is why");
  });
});

describe("a model that gets nowhere", () => {
  test("ends with what it says where it only talks", async () => {
    const { result, observations } = await run((request) => `The answer is ${40 + stepOf(request)}.`);
    expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "The answer is 42." });
    expect(result.why).toBe("the model wrote no code in 3 replies in a row: it answered in plain text");
    expect(result.usage.total.llmCalls).toBe(3);
    expect(observations[0]).toContain("give it with FINAL(...)");
  });

  test("ends with data that it writes again and again", async () => {
    const rlm = scripted(runtime, () => '```json\n{"n": 3}\n```');
    const { result } = await watch(rlm, { schema: { type: "object", properties: { n: { type: "integer" } } } });
    expect(result).toMatchObject({ status: "partial", data: { n: 3 } });
    expect(result.usage.total.llmCalls).toBe(3);
  });

  test("fails with its words where it only refuses", async () => {
    const { result } = await run(() => ({ text: "I cannot help with that.", finishReason: "refusal" }));
    expect(result).toMatchObject({ status: "failed", stopReason: "error", answer: null });
    expect(result.why).toBe("the model refused to answer in 2 replies in a row: I cannot help with that.");
    expect(result.usage.total.llmCalls).toBe(2);
  });

  test.each([
    ["```bash\nls\n```", "stop", "wrote no code that can be run in 3 replies in a row"],
    ["```repl\nfor x in", "stop", "wrote no complete code in 3 replies in a row"],
    [
      "Let me think about",
      "length",
      "reached its limit of tokens before it had written any code in 3 replies in a row",
    ],
  ] as const)("fails where it makes the same mistake: %j", async (text, finishReason, why) => {
    const { result } = await run(() => ({ text, finishReason }));
    expect(result).toMatchObject({ status: "failed", answer: null, why: `the model ${why}` });
    expect(result.usage.total.llmCalls).toBe(3);
  });

  test("fails where it makes one mistake after the other, and goes on after code", async () => {
    const mistakes = ["```bash\nls\n```", "```repl\nfor x in", "Hm."];
    const mixed = await run((request) => mistakes[stepOf(request) % 3] ?? "");
    expect(mixed.result.why).toContain("nothing that can be followed in 6 replies in a row");
    const script = ["Hm.", "Hm.", code("1"), "Hm.", "Hm.", code("FINAL(1)")];
    expect((await run(script)).result).toMatchObject({ status: "final", data: 1 });
  });

  test("is asked for an answer where it had seen something before", async () => {
    const { result } = await run((request) =>
      isEnd(request) ? "what I have" : stepOf(request) === 0 ? code("1") : "```bash\nls\n```",
    );
    expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "what I have" });
  });

  test("goes on where the strategy says so", async () => {
    const strategy = { guards: { fruitlessReplies: 0, refusals: 0 } };
    const { result } = await run((request) => (stepOf(request) < 5 ? "Hm." : code("FINAL(1)")), { strategy });
    expect(result).toMatchObject({ status: "final", data: 1 });
  });
});
