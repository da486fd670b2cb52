// Whole runs with servers whose window is small, and which refuse what they do not know.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMockProvider, type MockReply, type MockRequest } from "../fixtures/mock-provider.ts";
import type { Runtime } from "../internals.ts";
import { openTestRuntime } from "../open.ts";
import { code, watch } from "./scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 1 });
});
afterAll(() => runtime.close());

interface Message {
  readonly role: string;
  readonly content: string;
}

const messagesOf = ({ body }: MockRequest): readonly Message[] => body["messages"] as readonly Message[];
/** Four characters each, as this server counts. */
const tokensOf = (request: MockRequest): number =>
  Math.ceil(messagesOf(request).reduce((sum, { content }) => sum + content.length, 0) / 4);

function refusal(message: string): MockReply {
  return { status: 400, body: JSON.stringify({ object: "error", message, code: 400 }) };
}

/** As vLLM does: the input and the output that is asked for have to fit into the window together. */
function withWindow(window: number, answer: (request: MockRequest) => MockReply): (request: MockRequest) => MockReply {
  return (request) => {
    const input = tokensOf(request);
    const output = Number(request.body["max_tokens"] ?? Math.max(1, window - input));
    const limit = `This model's maximum context length is ${window} tokens.`;
    if (input >= window) return refusal(`${limit} However, your messages resulted in ${input} tokens.`);
    if (input + output > window)
      return refusal(
        `${limit} However, you requested ${output} output tokens and your prompt contains ${input} input tokens, for a total of ${input + output} tokens.`,
      );
    return { usage: { input, output: 20 }, ...answer(request) };
  };
}

/** Looks at the material, asks the model about a part of it, and answers. */
function play(request: MockRequest): MockReply {
  const messages = messagesOf(request);
  const last = messages.at(-1)?.content ?? "";
  if (last.startsWith("What is hidden")) return { text: [/needle-\d+/.exec(last)?.[0] ?? "nothing"] };
  const steps = messages.filter(({ role }) => role === "assistant").length;
  const block = [
    "at = context.index('needle')\npart = context[max(0, at - 100):at + 100]\nprint(len(part))",
    "found = llm_query('What is hidden in this?\\n' + part)\nprint(found)",
    "FINAL(found)",
  ][steps];
  return { text: [code(block ?? "")] };
}

function openRLM(baseUrl: string, options: object = {}) {
  return runtime.rlm({ backend: "openai-compatible", baseUrl, model: "tiny", cache: false, log: false, ...options });
}

const context = `${"hay ".repeat(5_000)}needle-42 ${"hay ".repeat(5_000)}`;

describe("a run", () => {
  test("answers within a window of 3,000 tokens, which is learned once", async () => {
    await using mock = await openMockProvider();
    mock.plan(withWindow(3_000, play));
    const { result } = await watch(openRLM(mock.url, { mode: "rlm" }), { context });
    expect(result).toMatchObject({ status: "final", answer: "needle-42" });
    const refused = mock.requests.length - result.usage.total.llmCalls;
    expect(refused).toBe(1);
  });

  test("answers with a server that knows neither system messages nor stream_options", async () => {
    await using mock = await openMockProvider();
    mock.plan((request) => {
      if ("stream_options" in request.body) return refusal("Unrecognized request argument supplied: stream_options");
      if (messagesOf(request)[0]?.role === "system") return refusal("System role not supported");
      return play(request);
    });
    const { result } = await watch(openRLM(mock.url, { mode: "rlm" }), { context });
    expect(result).toMatchObject({ status: "final", answer: "needle-42" });
    expect(mock.requests.length - result.usage.total.llmCalls).toBe(2);
  });
});

describe("a small question that turns out to be too large for the window", () => {
  const material = `${"hay ".repeat(2_500)}needle-7 `;
  const small = { context: material, query: "What is hidden?" };

  test("gets a session, in the same node", async () => {
    await using mock = await openMockProvider();
    // Direct questions do not begin with a system message.
    const answer = withWindow(5_000, play);
    mock.plan((request) =>
      messagesOf(request).length === 1 && tokensOf(request) > 2_000
        ? refusal("Input is too long for requested model.")
        : answer(request),
    );
    const { result, events } = await watch(openRLM(mock.url), small);
    expect(result).toMatchObject({ status: "final", answer: "needle-7" });
    const nodes = events.flatMap((event) =>
      event.type === "node-start" || event.type === "node-end" ? [`${event.type} ${event.nodeId}`] : [],
    );
    expect(nodes).toEqual(["node-start n0", "node-end n0"]);
    const calls = events.flatMap((event) =>
      event.type === "model-call-start" ? [[event.purpose, event.step, event.ordinal]] : [],
    );
    expect(calls.slice(0, 3)).toEqual([
      ["direct", 1, 1],
      ["step", 1, 2],
      ["step", 2, 1],
    ]);
  });

  test("is not even tried where the window is known", async () => {
    await using mock = await openMockProvider();
    mock.plan(withWindow(3_000, play));
    const rlm = openRLM(mock.url, { models: { tiny: { model: "m", contextWindow: 2_800 } } });
    const { events } = await watch(rlm, small);
    const purposes = events.flatMap((event) => (event.type === "model-call-start" ? [event.purpose] : []));
    expect(purposes[0]).toBe("step");
  });

  test("gets a session where the server fills its window and stops", async () => {
    await using mock = await openMockProvider();
    mock.plan((request) =>
      messagesOf(request).length === 1 && tokensOf(request) > 2_000
        ? { text: ["The needle"], finish: "length", usage: { input: 4_090, output: 6 } }
        : play(request),
    );
    const { result } = await watch(openRLM(mock.url), small);
    expect(result).toMatchObject({ status: "final", answer: "needle-7" });
  });

  test("gets a session where the server cuts the prompt at its window without a word", async () => {
    await using mock = await openMockProvider();
    mock.plan((request) => {
      const isCut = messagesOf(request).length === 1 && tokensOf(request) > 2_000;
      return isCut ? { text: ["There is none."], usage: { input: 2_900, output: 6 } } : play(request);
    });
    const { result, events } = await watch(openRLM(mock.url), {
      ...small,
      context: `${"a ".repeat(5_000)}needle-7 `,
    });
    expect(result).toMatchObject({ status: "final", answer: "needle-7" });
    const [cut] = events.flatMap((event) => (event.type === "model-call-end" ? [event] : []));
    expect(cut).toMatchObject({
      ok: false,
      error: expect.stringContaining("read only 2900 tokens of a prompt of 50"),
      usage: { inputTokens: 2_900 },
    });
  });

  test("fails with mode direct, which never opens a session", async () => {
    await using mock = await openMockProvider();
    mock.plan(refusal("Input is too long for requested model."));
    const { result } = await watch(openRLM(mock.url, { mode: "direct" }), small);
    expect(result).toMatchObject({ status: "failed", stopReason: "error" });
    expect(result.why).toContain("too long");
  });
});
