// Properties of the dispatcher under random calls, failures, limits and aborts.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Backend, BackendRequest, StreamPart } from "../../../src/backends/backend.ts";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import type { ScriptedReply } from "../../../src/backends/scripted/script.ts";
import { ScriptedBackend } from "../../../src/backends/scripted/scripted.ts";
import { BackendConnectionError } from "../../../src/errors.ts";
import { aRequest, failing, rateLimited } from "../describe-backend.ts";
import {
  concurrency,
  fixedWindow,
  overloaded,
  slidingWindow,
  tokenBucket,
  type Limiter,
  type RetryAfter,
} from "./limits/limiters.ts";
import { BusyClock, ManualClock } from "./manual-clock.ts";

const retryAfter = fc.constantFrom<RetryAfter[]>("exact", "seconds", "1 s", "none");
const limiter = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5 }), retryAfter)
    .map((of) => () => tokenBucket(...of)),
  fc.tuple(fc.integer({ min: 1, max: 5 }), retryAfter).map(
    ([n, of]) =>
      () =>
        fixedWindow(n, 1000, 300, of),
  ),
  fc.tuple(fc.integer({ min: 1, max: 5 }), retryAfter).map(
    ([n, of]) =>
      () =>
        slidingWindow(n, 1000, of),
  ),
  fc.tuple(fc.integer({ min: 1, max: 3 }), retryAfter).map(
    ([n, of]) =>
      () =>
        concurrency(n, of, 0),
  ),
  fc.tuple(fc.integer({ min: 0, max: 9000 }), retryAfter).map((of) => () => overloaded(...of)),
);
const reply = fc.constantFrom<ScriptedReply[]>("answer", { text: "" }, failing, rateLimited, {
  error: { fault: "bad-request" },
});
const call = fc.record({
  model: fc.constantFrom("a", "b", "c"),
  group: fc.constantFrom(0, 1),
  startMs: fc.integer({ min: 0, max: 3000 }),
  workMs: fc.integer({ min: 0, max: 500 }),
  abortMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
  replies: fc.array(reply, { minLength: 1, maxLength: 4 }),
});
const setting = fc.record({
  isBusy: fc.boolean(),
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  limiter,
  calls: fc.array(call, { minLength: 1, maxLength: 14 }),
});

test("whatever a provider does: no more than allowed in flight, oldest first, every call ends, nothing is left", async () => {
  const groups = [{}, {}];
  await fc.assert(
    fc.asyncProperty(setting, async ({ isBusy, maxConcurrency, limiter: openLimiter, calls }) => {
      const clock = isBusy ? new BusyClock() : new ManualClock();
      const dispatcher = new Dispatcher({ maxConcurrency, clock, random: () => 0.5 });
      const backend = new WorkingBackend(clock, openLimiter());
      const outcomes: unknown[] = [];
      let begun = 0;
      for (const { model, group, startMs, workMs, abortMs, replies } of calls) {
        const controller = new AbortController();
        clock.after(startMs, () => {
          const n = begun++;
          const work = { id: `${n}`, lane: `${model} ${group}`, workMs, replies };
          backend.works.set(work.id, work);
          const request = aRequest({ model, messages: [{ role: "user", content: work.id }] });
          const options = { signal: controller.signal, group: groups[group] ?? groups };
          void dispatcher.call(backend, request, options).then((outcome) => outcomes.push(outcome));
        });
        if (abortMs !== null) clock.after(abortMs, () => controller.abort(new Error("aborted")));
      }
      await clock.goTo(2_000_000);
      expect(outcomes).toHaveLength(calls.length);
      expect(backend.most).toBeLessThanOrEqual(maxConcurrency);
      for (const order of backend.firstSent.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect([dispatcher.inFlight, dispatcher.waiting, clock.due]).toEqual([0, 0, []]);
    }),
    { numRuns: 100 },
  );
});

interface Work {
  readonly id: string;
  readonly lane: string;
  readonly workMs: number;
  readonly replies: readonly ScriptedReply[];
}

/** Takes its time by the clock behind a limiter, and records what is in flight and in which order. */
class WorkingBackend implements Backend {
  readonly name = "working";
  readonly works = new Map<string, Work>();
  readonly firstSent = new Map<string, number[]>();
  readonly #attempts = new Map<string, number>();
  readonly #clock: ManualClock;
  readonly #limiter: Limiter;
  #inFlight = 0;
  most = 0;

  constructor(clock: ManualClock, openLimiter: Limiter) {
    this.#clock = clock;
    this.#limiter = openLimiter;
  }

  async *stream(request: BackendRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const { id, lane, workMs, replies } = this.works.get(request.messages[0]?.content ?? "") ?? fail();
    const attempt = this.#attempts.get(id) ?? 0;
    this.#attempts.set(id, attempt + 1);
    if (attempt === 0) this.firstSent.set(lane, [...(this.firstSent.get(lane) ?? []), Number(id)]);
    const rejection = this.#limiter.admit(this.#clock.now(), this.#inFlight);
    this.#inFlight += 1;
    this.most = Math.max(this.most, this.#inFlight);
    try {
      await new Promise<void>((resolve, reject) => {
        const forget = this.#clock.after(workMs, resolve);
        signal.addEventListener("abort", () => {
          forget();
          reject(signal.reason as Error);
        });
      });
      if (rejection !== undefined) {
        const { retryAfterMs, status = 429 } = rejection;
        const fault = status === 429 ? "rate-limit" : "server";
        throw new BackendConnectionError({
          backend: this.name,
          fault,
          why: "no",
          status,
          retryable: true,
          retryAfterMs,
        });
      }
      yield* new ScriptedBackend([replies[Math.min(attempt, replies.length - 1)] ?? ""]).stream(request, { signal });
    } finally {
      this.#inFlight -= 1;
    }
  }
}

function fail(): never {
  throw new Error("no such call");
}
