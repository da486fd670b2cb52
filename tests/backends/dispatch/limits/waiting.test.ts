import { describe, expect, test } from "vitest";
import type { CallOptions, CallOutcome } from "../../../../src/backends/dispatch/call.ts";
import { Dispatcher, type DispatcherOptions } from "../../../../src/backends/dispatch/dispatcher.ts";
import type { ScriptedReply } from "../../../../src/backends/scripted/script.ts";
import { ScriptedBackend } from "../../../../src/backends/scripted/scripted.ts";
import { aRequest } from "../../describe-backend.ts";
import { BusyClock, ManualClock, settle } from "../manual-clock.ts";
import { LimitedBackend, overloaded, runBatch, tokenBucket } from "./limiters.ts";

const never = new AbortController().signal;

describe("waiting for a limit", () => {
  test.each<[string, ScriptedReply]>([
    ["429", { error: { fault: "rate-limit", status: 429, retryable: true } }],
    ["529", { error: { fault: "server", status: 529, retryable: true } }],
    ["503 with Retry-After", { error: { fault: "server", status: 503, retryable: true, retryAfterMs: 1000 } }],
  ])("after %s costs no try", async (_, rejection) => {
    const { outcome } = await run([...Array<ScriptedReply>(9).fill(rejection), "answer"], { maxTries: 1 });
    expect(outcome).toMatchObject({ ok: true, text: "answer", attempts: 10 });
  });

  test.each<[string, ScriptedReply]>([
    ["503 that says nothing", { error: { fault: "server", status: 503, retryable: true } }],
    ["529 within an answer", { rateLimits: {}, error: { fault: "server", status: 529, retryable: true } }],
  ])("is not what %s needs", async (_, failure) => {
    const { outcome } = await run([failure], { maxTries: 3 });
    expect(outcome).toMatchObject({ ok: false, attempts: 3 });
  });

  test("ends where no request was accepted for the longest time", async () => {
    const { outcome, endedAt } = await run([
      { error: { fault: "rate-limit", status: 429, retryable: true, why: "too fast" } },
    ]);
    expect(outcome).toMatchObject({ ok: false, error: { fault: "rate-limit", retryable: true } });
    expect((outcome as { error: Error }).error.message).toMatch(
      /: too many requests: none of \d+ requests was accepted for 30\d s\. The last one: too fast$/,
    );
    expect(endedAt).toBeLessThan(310_000);
  });

  test("ends for all that wait, at once", async () => {
    const { outcomes, ms } = await runBatch(50, { limiter: overloaded(1e9, "none") }, { maxWaitMs: 60_000 });
    expect(outcomes.every((outcome) => !outcome.ok && (outcome.error as Error).message.includes("none of"))).toBe(true);
    expect(ms).toBeLessThan(70_000);
  });

  test("does not end as long as anything is accepted, however long it takes", async () => {
    const { answers, ms } = await runBatch(60, { limiter: tokenBucket(0.1, 1, "exact") }, { maxWaitMs: 30_000 });
    expect([answers, ms > 590_000]).toEqual([60, true]);
  });

  test("ends also where the time comes between two looks at the clock", async () => {
    const { answers } = await runBatch(200, { limiter: tokenBucket(10, 10, "1 s") }, { clock: new BusyClock() });
    expect(answers).toBe(200);
  });

  test("that would take longer than the time left ends at once, and says so", async () => {
    const later = { error: { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 100_000 } } as const;
    const announced: string[] = [];
    const onPart = ({ type }: { readonly type: string }): void => void announced.push(type);
    const { outcome, endedAt } = await run([later], {}, { timeLeftMs: () => 90_000, onPart });
    expect(announced).not.toContain("retry");
    expect(outcome).toMatchObject({
      ok: false,
      attempts: 1,
      error: {
        message:
          "Cannot get an answer from scripted: too many requests: it asks to wait another 100 s, but only 90 s are left",
        retryAfterMs: 100_000,
      },
    });
    expect(endedAt).toBe(0);
  });

  test("may take as long as there is time left", async () => {
    const later = { error: { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 1_200_000 } } as const;
    const { outcome, endedAt } = await run([later, "answer"], {}, { timeLeftMs: () => 1_800_000 });
    expect(outcome).toMatchObject({ ok: true, attempts: 2 });
    expect(endedAt).toBe(1_200_000);
  });

  test("leaves nothing behind when it is aborted", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock });
    const backend = new LimitedBackend({ limiter: tokenBucket(1, 1, "1 s"), clock });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 50 }, () => dispatcher.call(backend, aRequest(), { signal }));
    await clock.goTo(3500);
    expect(dispatcher.waiting).toBeGreaterThan(40);
    controller.abort(new Error("enough"));
    const outcomes = await Promise.all(calls);
    await clock.goTo(4000);
    expect(outcomes.filter(({ ok }) => ok).length).toBeGreaterThan(1);
    expect([dispatcher.inFlight, dispatcher.waiting, clock.due]).toEqual([0, 0, []]);
  });

  test("sets no timer once nobody waits", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock });
    const backend = new LimitedBackend({ limiter: tokenBucket(1, 1, "1 s"), clock });
    const calls = Array.from({ length: 5 }, () => dispatcher.call(backend, aRequest(), { signal: never }));
    while (dispatcher.waiting + dispatcher.inFlight > 0) await clock.goTo(clock.now() + 100);
    await Promise.all(calls);
    expect(clock.due).toEqual([]);
  });
});

describe("calls that wait", () => {
  test("of two groups take turns, each in its own order", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock, maxConcurrency: 1 });
    const [long, short] = [{}, {}];
    const order: string[] = [];
    const backend = new ScriptedBackend(async ({ messages }) => {
      order.push(messages[0]?.content ?? "");
      await settle();
      return "answer";
    });
    const call = (group: object, content: string): Promise<CallOutcome> =>
      dispatcher.call(backend, aRequest({ messages: [{ role: "user", content }] }), { signal: never, group });
    const calls = ["a1", "a2", "a3", "a4", "a5"].map((name) => call(long, name));
    await Promise.resolve();
    calls.push(call(short, "b1"), call(short, "b2"));
    await Promise.all(calls);
    expect(order).toEqual(["a1", "b1", "a2", "b2", "a3", "a4", "a5"]);
  });

  test("for one model do not slow down another one of the same backend", async () => {
    const clock = new ManualClock();
    const dispatcher = new Dispatcher({ clock });
    const limited = new LimitedBackend({ limiter: tokenBucket(1, 1, "1 s"), clock });
    const free = new ScriptedBackend(() => "answer");
    const waiting = Array.from({ length: 20 }, () => dispatcher.call(limited, aRequest(), { signal: never }));
    await clock.goTo(2000);
    const others = Array.from({ length: 20 }, () => dispatcher.call(free, aRequest(), { signal: never }));
    expect((await Promise.all(others)).every(({ ok }) => ok)).toBe(true);
    await clock.goTo(100_000);
    expect((await Promise.all(waiting)).every(({ ok }) => ok)).toBe(true);
  });
});

/** The last reply is repeated. */
async function run(
  replies: readonly ScriptedReply[],
  options: DispatcherOptions = {},
  callOptions: Partial<CallOptions> = {},
) {
  const clock = new ManualClock();
  const dispatcher = new Dispatcher({ clock, random: () => 0.5, ...options });
  const backend = new ScriptedBackend((_, n) => replies[Math.min(n, replies.length - 1)] ?? "");
  let endedAt = -1;
  const call = dispatcher.call(backend, aRequest(), { signal: never, ...callOptions });
  void call.then(() => (endedAt = clock.now()));
  await clock.goTo(10_000_000);
  return { outcome: await call, endedAt };
}
