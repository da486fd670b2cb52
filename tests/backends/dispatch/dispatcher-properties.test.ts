// Properties of the dispatcher under random calls, failures and aborts.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Backend, BackendRequest, StreamPart } from "../../../src/backends/backend.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import type { ScriptedReply } from "../../../src/backends/scripted/script.ts";
import { ScriptedBackend } from "../../../src/backends/scripted/scripted.ts";
import { aRequest, failing, rateLimited } from "../describe-backend.ts";
import { ManualClock } from "./manual-clock.ts";

test("no limit is exceeded, every call ends and every slot is released", async () => {
  const reply = fc.constantFrom<ScriptedReply[]>("answer", { text: "" }, failing, rateLimited, {
    error: { fault: "bad-request" },
  });
  const call = fc.record({
    model: fc.constantFrom("a", "b", "c"),
    startMs: fc.integer({ min: 0, max: 3000 }),
    workMs: fc.integer({ min: 0, max: 500 }),
    abortMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
    replies: fc.array(reply, { minLength: 1, maxLength: 4 }),
  });
  const setting = fc.record({
    maxInFlight: fc.integer({ min: 1, max: 4 }),
    maxPerModel: fc.integer({ min: 1, max: 3 }),
    calls: fc.array(call, { minLength: 1, maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(setting, async ({ maxInFlight, maxPerModel, calls }) => {
      const clock = new ManualClock();
      const dispatcher = new Dispatcher({ maxInFlight, maxPerModel, clock, random: () => 0.5 });
      const flying = new Map<string, number>();
      const most = { all: 0, model: 0 };
      const outcomes: unknown[] = [];
      for (const { model, startMs, workMs, abortMs, replies } of calls) {
        const controller = new AbortController();
        const backend = new WorkingBackend({ clock, workMs, replies, flying, most });
        clock.after(startMs, () => {
          const { signal } = controller;
          void dispatcher.call(backend, aRequest({ model }), { signal }).then((outcome) => outcomes.push(outcome));
        });
        if (abortMs !== null) clock.after(abortMs, () => controller.abort(new Error("aborted")));
      }
      await clock.goTo(1_000_000);
      expect(outcomes).toHaveLength(calls.length);
      expect(most.all).toBeLessThanOrEqual(maxInFlight);
      expect(most.model).toBeLessThanOrEqual(maxPerModel);
      expect([dispatcher.inFlight, dispatcher.waiting, clock.due]).toEqual([0, 0, []]);
    }),
    { numRuns: 60 },
  );
});

interface Work {
  readonly clock: ManualClock;
  readonly workMs: number;
  readonly replies: readonly ScriptedReply[];
  readonly flying: Map<string, number>;
  readonly most: { all: number; model: number };
}

/** Takes its time by the clock, and counts how many are at it. */
class WorkingBackend implements Backend {
  readonly name = "working";
  readonly #work: Work;
  #calls = 0;
  constructor(work: Work) {
    this.#work = work;
  }
  async *stream(request: BackendRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const { clock, workMs, replies, flying, most } = this.#work;
    const reply = replies[Math.min(this.#calls++, replies.length - 1)] ?? "";
    flying.set(request.model, (flying.get(request.model) ?? 0) + 1);
    most.all = Math.max(
      most.all,
      [...flying.values()].reduce((sum, n) => sum + n, 0),
    );
    most.model = Math.max(most.model, ...flying.values());
    try {
      await new Promise<void>((resolve, reject) => {
        const forget = clock.after(workMs, resolve);
        signal.addEventListener("abort", () => {
          forget();
          reject(signal.reason as Error);
        });
      });
      yield* new ScriptedBackend([reply]).stream(request, { signal });
    } finally {
      flying.set(request.model, (flying.get(request.model) ?? 1) - 1);
    }
  }
}
