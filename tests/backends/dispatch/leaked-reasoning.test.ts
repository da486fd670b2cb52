// Reasoning in the text of an answer: kept apart, also where the answer is cut or begins inside it.

import { describe, expect, test } from "vitest";
import type { Backend, BackendPart } from "../../../src/backends/backend.ts";
import type { CallOutcome, CallPart } from "../../../src/backends/dispatch/call.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { ScriptedBackend } from "../../../src/backends/scripted/scripted.ts";
import { aRequest } from "../describe-backend.ts";

const signal = new AbortController().signal;
const BLOCK = "```python\nprint(1)\n```\n";

interface Called {
  readonly outcome: CallOutcome;
  /** What the listener had as the text in the end. */
  readonly seen: string;
}

/** Cuts after the first block of code. */
async function call(dispatcher: Dispatcher, backend: Backend, model?: string): Promise<Called> {
  let seen = "";
  const onPart = (part: CallPart): "cut" | undefined => {
    if (part.type === "reclassify") seen = part.text;
    else if (part.type === "text-delta") seen += part.text;
    return /```\n[^]*```\n/.test(seen) || /^```\w[^]*\n```\n/m.test(seen) ? "cut" : undefined;
  };
  return {
    outcome: await dispatcher.call(backend, aRequest(model === undefined ? {} : { model }), { signal, onPart }),
    seen,
  };
}

const answers = (...texts: string[]): Backend => new ScriptedBackend(texts);

describe("reasoning in the text of an answer", () => {
  test("is reasoning of the outcome", async () => {
    const { outcome, seen } = await call(new Dispatcher(), answers(`<think>I try ${BLOCK}</think>\n\nParis`));
    expect(outcome).toMatchObject({ ok: true, text: "Paris", reasoning: `I try ${BLOCK}`, finishReason: "stop" });
    expect(seen).toBe("Paris");
  });

  test("that takes up the whole answer leaves it empty", async () => {
    const dispatcher = new Dispatcher({ maxTries: 1 });
    const { outcome } = await call(dispatcher, answers("<think>\nFINAL(1)"));
    expect(outcome).toMatchObject({
      ok: false,
      error: { fault: "empty", message: expect.stringContaining("reasoning") },
    });
  });

  test("without an opening marker is found out after the fact, and expected from then on", async () => {
    const dispatcher = new Dispatcher();
    const thought = "They want a city. France.";
    const backend = answers(`${thought}</think>\n\nParis`, `${thought}\n${BLOCK}</think>${BLOCK}`, "Just Paris");
    const first = await call(dispatcher, backend);
    expect(first.outcome).toMatchObject({ ok: true, text: "Paris", reasoning: thought });
    expect(first.seen).toBe("Paris");
    const second = await call(dispatcher, backend);
    expect(second.outcome).toMatchObject({
      ok: true,
      text: BLOCK,
      reasoning: `${thought}\n${BLOCK}`,
      finishReason: "stop",
    });
    const third = await call(dispatcher, backend);
    expect(third.outcome).toMatchObject({ ok: true, text: "Just Paris", reasoning: "" });
    expect(third.seen).toBe("Just Paris");
  });

  test.each([
    ["begins like reasoning", "Okay, the user wants a number."],
    ["is long", "I see. ".repeat(200)],
  ])("is looked for after the first cut where the text %s", async (_, thought) => {
    const text = `${thought}\n${BLOCK}Yes.\n</think>\n\nNow:\n${BLOCK}`;
    const { outcome, seen } = await call(new Dispatcher(), answers(text));
    expect(outcome).toMatchObject({ ok: true, text: `Now:\n${BLOCK}`, reasoning: `${thought}\n${BLOCK}Yes.\n` });
    expect(seen).toBe(`Now:\n${BLOCK}`);
  });

  test.each(["deepseek-r1:14b", "Qwen/QwQ-32B", "qwen3-30b-a3b-thinking-2507"])(
    "is looked for after the first cut of a model that always reasons: %s",
    async (model) => {
      const thought = `I might try\n${BLOCK}${"No. ".repeat(500)}\n`;
      const { outcome, seen } = await call(new Dispatcher(), answers(`${thought}</think>\n\nNow:\n${BLOCK}`), model);
      expect(outcome).toMatchObject({ ok: true, text: `Now:\n${BLOCK}`, reasoning: thought });
      expect(seen).toBe(`Now:\n${BLOCK}`);
    },
  );

  test("is not looked for further than 12,000 characters, and only once", async () => {
    const dispatcher = new Dispatcher();
    const backend = new WritesOn(`Okay, I look.\n${BLOCK}`);
    const first = await call(dispatcher, backend);
    expect(first.outcome).toMatchObject({ ok: true, text: `Okay, I look.\n${BLOCK}`, finishReason: "cut" });
    expect(backend.characters).toBeGreaterThan(12_000);
    expect(backend.characters).toBeLessThan(13_000);
    const second = await call(dispatcher, backend);
    expect(second.outcome).toMatchObject({ ok: true, text: `Okay, I look.\n${BLOCK}`, finishReason: "cut" });
    expect(backend.characters).toBeLessThan(500);
  });

  test("is looked for without harm where the stream breaks off", async () => {
    const error = { fault: "connection", retryable: true } as const;
    const broken = new ScriptedBackend([{ text: `Okay, I look.\n${BLOCK}more`, error }]);
    const { outcome } = await call(new Dispatcher(), broken);
    expect(outcome).toMatchObject({ ok: true, text: `Okay, I look.\n${BLOCK}more`, finishReason: "cut", attempts: 1 });
  });

  test("is not looked for where the model says briefly what it does, or the provider shows its reasoning", async () => {
    const brief = new WritesOn(`Let me see.\n${BLOCK}`);
    await call(new Dispatcher(), brief);
    expect(brief.characters).toBeLessThan(500);
    const shown = new WritesOn(`Okay, I look.\n${BLOCK}`, "hm");
    await call(new Dispatcher(), shown);
    expect(shown.characters).toBeLessThan(500);
  });
});

/** Never ends by itself. */
class WritesOn implements Backend {
  readonly name = "writes-on";
  readonly #text: string;
  readonly #reasoning: string;
  /** After the text, in the last answer. */
  characters = 0;
  constructor(text: string, reasoning = "") {
    this.#text = text;
    this.#reasoning = reasoning;
  }
  async *stream(): AsyncGenerator<BackendPart> {
    this.characters = 0;
    if (this.#reasoning !== "") yield { type: "reasoning-delta", text: this.#reasoning };
    yield { type: "text-delta", text: this.#text };
    for (;;) {
      this.characters += 100;
      yield { type: "text-delta", text: "invented ".repeat(11).padEnd(100, "\n") };
    }
  }
}
