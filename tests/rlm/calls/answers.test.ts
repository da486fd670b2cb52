// What code gets where a model gives no answer, or only a part of one.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScriptedAnswer } from "../../../src/backends/scripted/script.ts";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, lastOf, questionOf, scripted, type ScriptFunction, stepOf, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

const usage = { inputTokens: 10, outputTokens: 8_000 };

/** Of the sub-model, by prompt. */
const REPLIES: Readonly<Record<string, ScriptedAnswer>> = {
  reasons: { reasoning: "hm", text: " \n", finishReason: "length", usage },
  cut: { text: "The first of many", finishReason: "length", usage },
  "cut json": { text: '{"a": 1', finishReason: "length", usage },
  filtered: { text: "It says that", finishReason: "refusal", usage },
  refused: { text: "", finishReason: "refusal" },
  other: { text: "fine", finishReason: "other" },
  limited: { error: { fault: "rate-limit", why: "too many requests", retryable: true } },
};

const sub: ScriptFunction = (request) => {
  const [prompt = ""] = lastOf(request).split("\n");
  return REPLIES[prompt] ?? `answer to ${prompt}`;
};

/** Runs a block of code, and resolves to what the root was shown, and to the value of an expression after it. */
async function after(
  block: string,
  expression: string,
  script = sub,
): Promise<{ readonly shown: string | undefined; readonly data: unknown }> {
  const play: ScriptFunction = (request, n) => {
    if (request.model === "sub" || questionOf(request) !== "?") return script(request, n);
    return stepOf(request) > 0 ? code(`FINAL(${expression})`) : code(block);
  };
  const dispatcher = { firstDelayMs: 1, maxTries: 1, maxWaitMs: 0 };
  const { result, observations } = await watch(scripted(runtime, play, { dispatcher }));
  expect(result.status).toBe("final");
  return { shown: observations[0], data: result.data };
}

/** Asked twice, unless the limit on requests, which another call of the batch has met by then, leaves it at once. */
const OUT_OF_TOKENS =
  /^the model used all its (?:8|16),000 tokens without an answer: raise max_tokens, or ask for less$/;
const REFUSED = "the model or its provider refused to go on";

describe("a batch", () => {
  test("tells whole answers, parts of answers and failures apart", async () => {
    const { data } = await after(
      // The last one by itself: nothing waits for a limit here, and the second attempt of another one would have to.
      "r = llm_query_batched(['a', 'cut', 'other', 'reasons', 'filtered', 'refused']) + llm_query_batched(['limited'])",
      "[[x.ok, x.finish_reason, x.truncated, x.text, isinstance(x, str)] + ([] if x.ok else [x.error.kind, x.error.retryable, str(x.error)]) for x in r]",
    );
    const backend = "Cannot get an answer from scripted:";
    expect(data).toEqual([
      [true, "stop", false, "answer to a", true],
      [true, "length", true, "The first of many", true],
      [true, "other", false, "fine", true],
      [false, "length", false, " \n", false, "length", false, expect.stringMatching(OUT_OF_TOKENS)],
      [false, "refusal", false, "It says that", false, "refusal", false, REFUSED],
      [false, "refusal", false, "", false, "refusal", false, `${backend} the model refused to answer`],
      [false, null, false, "", false, "rate-limit", true, `${backend} too many requests`],
    ]);
  });

  test("is not joined where one failed: the error says which and why", async () => {
    const { shown, data } = await after("r = llm_query_batched(['a', 'limited', 'c'])\n' '.join(r)", "len(r)");
    expect(shown).toContain(
      "TypeError: sequence item 1: expected str instance, FailedCall(rate-limit, retryable: too many requests) found",
    );
    expect(data).toBe(3);
  });

  test("shows its failures, and raises where one is used as text", async () => {
    const block = "r = await llm_query_batched_async(['a', 'filtered'])\nprint(r)\nf'{r[0]} {r[1]}'";
    const { shown } = await after(block, "len(r)");
    expect(shown).toContain(`['answer to a', <FailedCall: refusal: ${REFUSED}>]`);
    expect(shown).toContain(`LLMError: item 1 of the batch of 2 failed (refusal): ${REFUSED}`);
  });

  test("shows a failure as a variable and as a value", async () => {
    const { shown } = await after("r = llm_query_batched(['filtered'])\none = r[0]\nprint(SHOW_VARS())\none", "1");
    const failure = `<FailedCall: refusal: ${REFUSED}>`;
    expect(shown).toMatch(/^one: FailedCall\(refusal: .*\(no length\) = /m);
    expect(shown).toContain(`r: list (1 item) = [${failure}]`);
    expect(shown).toContain(`→ ${failure}`);
  });

  test.each(["FINAL(r[1])", "FINAL(r)", "FINAL({'all': r})", "SUBMIT(one=r[1])", "FINAL_VAR('r')", "llm_query(r[1])"])(
    "keeps a failure out of answers and prompts: %s",
    async (use) => {
      const { shown, data } = await after(`r = llm_query_batched(['a', 'filtered'])\n${use}`, "'later'");
      expect(shown).toContain("LLMError: item 1 of the batch of 2 failed (refusal)");
      expect(shown).not.toContain("/json/"); // only frames of the user's code
      expect(data).toBe("later");
    },
  );

  test("of map_query has failures, which reduce_query does not take", async () => {
    const { shown, data } = await after(
      "r = map_query(['a', 'filtered', 'limited'], '{item}')\nreduce_query(['a', 'filtered', 'limited'], 'x', pack=1)",
      "[x.ok for x in r]",
      (request, n) =>
        lastOf(request).startsWith("x\n\nf") ? { text: "It", finishReason: "refusal" } : sub(request, n),
    );
    expect(data).toEqual([true, false, false]);
    expect(shown).toContain(`LLMError: 1 of 3 calls failed; the first is item 1 (refusal): ${REFUSED}`);
  });
});

describe("a single call", () => {
  test("raises with the kind, the part of the answer and why it ended", async () => {
    const { data } = await after(
      "seen = []\nfor p in ['reasons', 'filtered', 'limited']:\n  try: llm_query(p)\n  except LLMError as e: seen.append([e.kind, e.retryable, e.text, e.finish_reason, e.usage.get('output_tokens')])",
      "seen",
    );
    expect(data).toEqual([
      ["length", false, " \n", "length", 16_000],
      ["refusal", false, "It says that", "refusal", 8_000],
      ["rate-limit", true, "", null, null],
    ]);
  });

  test("with a schema says that its answer was cut off, and asks once", async () => {
    let calls = 0;
    const { data } = await after(
      "try: llm_query('cut json', schema={'type': 'object'})\nexcept LLMError as e: seen = [e.kind, e.text, str(e)]",
      "seen",
      (request, n) => (++calls, sub(request, n)),
    );
    const why = "the answer was cut off at its limit of 8,000 tokens, so it does not follow the schema";
    expect(data).toEqual(["length", '{"a": 1', `${why}: raise max_tokens, or ask for less`]);
    expect(calls).toBe(1);
  });
});

describe("a child", () => {
  const child: ScriptFunction = (request) => {
    if (questionOf(request) === "whole") return code("FINAL('all of it')");
    return isEnd(request) ? "a part" : code("1");
  };

  test("that was ended by a limit gives a part of an answer, and says which limit", async () => {
    const { data } = await after(
      "r = rlm_query_batched(['whole', 'part'], budget={'iterations': 1})",
      "[[x.ok, x.finish_reason, x.truncated, x.text] for x in r]",
      child,
    );
    expect(data).toEqual([
      [true, "stop", false, "all of it"],
      [true, "iterations", true, "a part"],
    ]);
  });

  test("that no model answers has failed as a call of a model does", async () => {
    const { data } = await after(
      "[x] = rlm_query_batched(['limited'])",
      "[x.ok, x.error.kind, x.error.retryable, x.finish_reason]",
      () => REPLIES["limited"] ?? "",
    );
    expect(data).toEqual([false, "rate-limit", true, "error"]);
  });

  test("whose answer does not follow its schema has failed", async () => {
    const { data } = await after(
      "r = rlm_query_batched(['whole', 'part'], schema={'type': 'integer'}, budget={'iterations': 8})",
      "[[x.ok, x.error.kind, x.text] for x in r]",
      child,
    );
    expect(data).toEqual([
      [false, "schema", "all of it"],
      [false, "limit", "a part"],
    ]);
  });
});

describe("a direct call", () => {
  test.each([
    ["reasons", { status: "failed", stopReason: "tokens", answer: null, why: expect.stringContaining("used all its") }],
    ["cut", { status: "partial", stopReason: "tokens", answer: "The first of many" }],
    ["filtered", { status: "partial", stopReason: "error", answer: "It says that", why: REFUSED }],
    ["refused", { status: "failed", stopReason: "error", answer: null, why: expect.stringContaining("refused") }],
  ])("is not final without a whole answer: %s", async (query, expected) => {
    const { result } = await watch(scripted(runtime, sub, { mode: "direct" }), { query });
    expect(result).toMatchObject(expected);
  });
});
