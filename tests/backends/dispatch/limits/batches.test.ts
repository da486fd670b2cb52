// How long a batch takes behind the limits that providers have, compared with the least time that the limit allows.

import { describe, expect, test } from "vitest";
import {
  changing,
  concurrency,
  fixedWindow,
  overloaded,
  runBatch,
  slidingWindow,
  tokenBucket,
  type LimitedOptions,
  type Limiter,
} from "./limiters.ts";

interface Case {
  readonly name: string;
  readonly calls: number;
  readonly ratio: number;
  readonly limiter: Limiter;
  readonly options?: Partial<LimitedOptions>;
}

describe("a steady rate limit", () => {
  test.each<Case>([
    { name: "1 a second, in a bucket", calls: 30, ratio: 1.3, limiter: tokenBucket(1, 1, "1 s") },
    { name: "1 a second, counted by the second", calls: 30, ratio: 1.3, limiter: fixedWindow(1, 1000, 300, "1 s") },
    { name: "1 a second, in a sliding window", calls: 30, ratio: 1.3, limiter: slidingWindow(1, 1000, "1 s") },
    {
      name: "1 a second, and an answer takes 2 s",
      calls: 30,
      ratio: 1.3,
      limiter: tokenBucket(1, 1, "1 s"),
      options: { latencyMs: 2000, silenceMs: 2000 },
    },
    { name: "10 a second, in a bucket", calls: 200, ratio: 1.3, limiter: tokenBucket(10, 10, "1 s") },
    { name: "10 a second, in a bucket for one", calls: 200, ratio: 1.3, limiter: tokenBucket(10, 1, "1 s") },
    { name: "10 a second, counted by the second", calls: 200, ratio: 1.3, limiter: fixedWindow(10, 1000, 300, "1 s") },
    { name: "10 a second, in a sliding window", calls: 200, ratio: 1.3, limiter: slidingWindow(10, 1000, "1 s") },
    {
      name: "10 a second, and an answer takes 2 s",
      calls: 200,
      ratio: 1.3,
      limiter: slidingWindow(10, 1000, "1 s"),
      options: { latencyMs: 2000 },
    },
    { name: "10 a second, with an exact Retry-After", calls: 200, ratio: 1.3, limiter: tokenBucket(10, 10, "exact") },
    {
      name: "10 a second, without Retry-After",
      calls: 200,
      ratio: 1.4,
      limiter: tokenBucket(10, 10, "none"),
      options: { latencyMs: 2000, silenceMs: 2000 },
    },
    { name: "1 a second, without Retry-After", calls: 30, ratio: 1.5, limiter: tokenBucket(1, 1, "none") },
  ])("of $name loses no call and little time", async ({ calls, ratio, limiter, options }) => {
    const batch = await runBatch(calls, { limiter, ...options });
    expect(batch.answers).toBe(calls);
    expect(batch.ratio).toBeLessThanOrEqual(ratio);
    expect(batch.rejected).toBeLessThan(calls + 32);
  });
});

describe("a limit by the minute", () => {
  test.each<Case>([
    { name: "with a burst", calls: 150, ratio: 1.2, limiter: tokenBucket(1, 60, "seconds") },
    {
      name: "with a burst, without Retry-After",
      calls: 150,
      ratio: 1.2,
      limiter: tokenBucket(1, 60, "none"),
      options: { latencyMs: 2000 },
    },
    { name: "counted by the minute", calls: 150, ratio: 1.2, limiter: fixedWindow(60, 60_000, 20_000, "seconds") },
    {
      name: "counted by the minute, with a Retry-After that is too short",
      calls: 150,
      ratio: 1.2,
      limiter: fixedWindow(60, 60_000, 20_000, "1 s"),
    },
    {
      name: "counted by the minute, without Retry-After",
      calls: 150,
      ratio: 1.2,
      limiter: fixedWindow(60, 60_000, 20_000, "none"),
    },
  ])("$name", async ({ calls, ratio, limiter, options }) => {
    const batch = await runBatch(calls, { limiter, ...options });
    expect(batch.answers).toBe(calls);
    expect(batch.ratio).toBeLessThanOrEqual(ratio);
  });

  test.each<Case>([
    { name: "with a burst", calls: 150, ratio: 1.1, limiter: tokenBucket(1, 60, "seconds") },
    { name: "counted by the minute", calls: 150, ratio: 1.1, limiter: fixedWindow(60, 60_000, 20_000, "seconds") },
  ])("$name, whose headers say what is left, rejects nothing", async ({ calls, ratio, limiter }) => {
    const batch = await runBatch(calls, { limiter, sendsHeaders: true });
    expect([batch.answers, batch.rejected]).toEqual([calls, 0]);
    expect(batch.ratio).toBeLessThanOrEqual(ratio);
  });
});

test.each<Case>([
  {
    name: "without Retry-After",
    calls: 100,
    ratio: 1.2,
    limiter: concurrency(4, "none", 1020),
    options: { latencyMs: 1000 },
  },
  {
    name: "that answers late",
    calls: 100,
    ratio: 1.3,
    limiter: concurrency(4, "none", 1020),
    options: { latencyMs: 1000, silenceMs: 1000 },
  },
  {
    name: "with Retry-After",
    calls: 100,
    ratio: 1.4,
    limiter: concurrency(4, "1 s", 1020),
    options: { latencyMs: 1000 },
  },
])("a limit on concurrency $name", async ({ calls, ratio, limiter, options }) => {
  const batch = await runBatch(calls, { limiter, ...options });
  expect(batch.answers).toBe(calls);
  expect(batch.ratio).toBeLessThanOrEqual(ratio);
});

test.each<Case>([
  {
    name: "without Retry-After",
    calls: 100,
    ratio: 1.5,
    limiter: overloaded(20_000, "none"),
    options: { latencyMs: 1000 },
  },
  {
    name: "with Retry-After",
    calls: 100,
    ratio: 1.5,
    limiter: overloaded(20_000, "1 s"),
    options: { latencyMs: 1000 },
  },
])("a provider that is overloaded for a while, $name, is asked rarely", async ({ calls, ratio, limiter, options }) => {
  const batch = await runBatch(calls, { limiter, ...options });
  expect(batch.answers).toBe(calls);
  expect(batch.ratio).toBeLessThanOrEqual(ratio);
  expect(batch.rejected).toBeLessThan(50);
});

test.each([
  {
    name: "falls and rises",
    steps: [
      [0, 10],
      [20_000, 2],
      [60_000, 10],
    ],
    calls: 600,
    idealMs: 92_000,
    ratio: 2,
  },
  {
    name: "rises",
    steps: [
      [0, 2],
      [30_000, 20],
    ],
    calls: 600,
    idealMs: 57_000,
    ratio: 2.5,
  },
] as const)("a limit that $name is followed", async ({ steps, calls, idealMs, ratio }) => {
  const limiter = { ...changing(steps), idealMs: () => idealMs };
  const batch = await runBatch(calls, { limiter, latencyMs: 1000, silenceMs: 500 });
  expect(batch.answers).toBe(calls);
  expect(batch.ratio).toBeLessThanOrEqual(ratio);
});

test("without limits, the window opens to what is configured", async () => {
  const { mostInFlight, rejected, pauses } = await runBatch(
    400,
    { limiter: tokenBucket(1e6, 1e6, "none"), latencyMs: 50 },
    { maxConcurrency: 100 },
  );
  expect({ mostInFlight, rejected, pauses }).toEqual({ mostInFlight: 100, rejected: 0, pauses: [] });
});

test("each call reports a few times that it waits, not for each rejection", async () => {
  const { pauses, answers } = await runBatch(100, { limiter: overloaded(120_000, "1 s") });
  expect(answers).toBe(100);
  expect(pauses.length).toBeLessThan(1000);
});
