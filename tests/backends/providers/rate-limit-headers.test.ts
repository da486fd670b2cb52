import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseRateLimits } from "../../../src/backends/providers/rate-limit-headers.ts";

const NOW = Date.parse("2026-11-19T12:00:00Z");

test.each<[string, Record<string, string>, object | undefined]>([
  [
    "OpenAI",
    {
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-limit-tokens": "150000",
      "x-ratelimit-remaining-tokens": "149984",
      "x-ratelimit-reset-tokens": "6m0s",
    },
    {
      requests: { limit: 60, remaining: 59, resetMs: 1000, refill: "gradual" },
      tokens: { limit: 150_000, remaining: 149_984, resetMs: 360_000, refill: "gradual" },
    },
  ],
  [
    "Anthropic",
    {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-11-19T12:00:30Z",
      "anthropic-ratelimit-input-tokens-remaining": "1000",
      "anthropic-ratelimit-output-tokens-remaining": "0",
      "anthropic-ratelimit-output-tokens-reset": "2026-11-19T11:00:00Z",
    },
    {
      requests: { limit: 50, remaining: 0, resetMs: 30_000, refill: "gradual" },
      inputTokens: { remaining: 1000, refill: "gradual" },
      outputTokens: { remaining: 0, resetMs: 0, refill: "gradual" },
    },
  ],
  [
    "OpenRouter",
    { "x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW + 12_000) },
    { requests: { limit: 20, remaining: 0, resetMs: 12_000, refill: "at-reset" } },
  ],
  [
    "a gateway with seconds since the epoch",
    { "x-ratelimit-remaining": "1", "x-ratelimit-reset": String(NOW / 1000 + 7) },
    { requests: { remaining: 1, resetMs: 7000, refill: "at-reset" } },
  ],
  [
    "the draft of the IETF, of which the scarcest quota counts",
    { ratelimit: '"daily";r=900;t=4000, "burst";r=5;t=30' },
    { requests: { remaining: 5, resetMs: 30_000, refill: "at-reset" } },
  ],
  [
    "an older draft in one field",
    { ratelimit: "limit=100, remaining=50, reset=5" },
    { requests: { remaining: 50, resetMs: 5000, refill: "at-reset" } },
  ],
  [
    "an older draft in three fields",
    { "ratelimit-limit": "10", "ratelimit-remaining": "4", "ratelimit-reset": "1.5" },
    { requests: { limit: 10, remaining: 4, resetMs: 1500, refill: "at-reset" } },
  ],
  [
    "milliseconds and other compound durations",
    { "x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "20ms", "x-ratelimit-reset-tokens": "1s" },
    { requests: { remaining: 1, resetMs: 20, refill: "gradual" } },
  ],
  [
    "times that are too long or over",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "9999h",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "Wed, 21 Oct 2015 07:28:00 GMT",
    },
    {
      requests: { remaining: 0, resetMs: 3_600_000, refill: "gradual" },
      tokens: { remaining: 0, resetMs: 0, refill: "gradual" },
    },
  ],
  ["no limit", { "x-ratelimit-remaining-requests": "-1", "x-ratelimit-limit-requests": "unlimited" }, undefined],
  ["nothing", { "content-type": "text/event-stream" }, undefined],
])("%s", (_, headers, expected) => {
  expect(parseRateLimits(headers, NOW)).toEqual(expected);
});

test("whatever is sent, what is read is within bounds", () => {
  const name = fc.constantFrom(
    "ratelimit",
    ...["limit", "remaining", "reset"].flatMap((field) => [
      `x-ratelimit-${field}`,
      `x-ratelimit-${field}-requests`,
      `anthropic-ratelimit-output-tokens-${field}`,
    ]),
  );
  const value = fc.oneof(
    fc.string(),
    fc.integer().map(String),
    fc.double().map(String),
    fc.date().map(String),
    fc.stringMatching(/^[0-9dhms.]{0,12}$/),
    fc.stringMatching(/^("[a-z]+";r=\d+;t=\d+,?)+$/),
  );
  fc.assert(
    fc.property(fc.dictionary(name, value), (headers) => {
      for (const { remaining, limit = 0, resetMs = 0 } of Object.values(parseRateLimits(headers, NOW) ?? {})) {
        for (const count of [remaining, limit]) expect(count >= 0 && count <= 1e12).toBe(true);
        expect(resetMs >= 0 && resetMs <= 3_600_000).toBe(true);
      }
    }),
  );
});
