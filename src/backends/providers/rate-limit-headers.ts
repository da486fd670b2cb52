// The limits that providers report in the headers of their responses.
//
// OpenAI (and Groq, Azure, LiteLLM and others) sends `x-ratelimit-remaining-requests` with durations such as `6m0s`, Anthropic
// `anthropic-ratelimit-requests-remaining` with dates, OpenRouter and many gateways `x-ratelimit-remaining` with a time since the epoch,
// and a draft of the IETF has `ratelimit: "default";r=50;t=30`. What is not a plausible number counts as not sent.

import type { Quota, RateLimits } from "../rate-limits.ts";

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One hour: a longer time is a mistake, or an attempt to stop us. */
const MAX_MS = 3_600_000;
const MAX_COUNT = 1e12;
/** Longer values are no number, date or duration. */
const MAX_CHARACTERS = 200;

const KINDS = { requests: "requests", tokens: "tokens", inputTokens: "input-tokens", outputTokens: "output-tokens" };

/** From headers with lower-case names. Undefined: they have nothing usable. `now` is in milliseconds since the epoch. */
export function parseRateLimits(headers: Headers, now: number): RateLimits | undefined {
  const limits: { -readonly [Kind in keyof RateLimits]: RateLimits[Kind] } = {};
  for (const [kind, name] of Object.entries(KINDS) as [keyof RateLimits, string][]) {
    const quota =
      toQuota((field) => textOf(headers, `anthropic-ratelimit-${name}-${field}`), "gradual", now) ??
      toQuota((field) => textOf(headers, `x-ratelimit-${field}-${name}`), "gradual", now);
    if (quota !== undefined) limits[kind] = quota;
  }
  const requests =
    limits.requests ??
    fromDraft(textOf(headers, "ratelimit")) ??
    toQuota((field) => textOf(headers, `ratelimit-${field}`), "at-reset", now) ??
    toQuota((field) => textOf(headers, `x-ratelimit-${field}`), "at-reset", now);
  if (requests !== undefined) limits.requests = requests;
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function toQuota(
  textOfField: (field: "limit" | "remaining" | "reset") => string | undefined,
  refill: Quota["refill"],
  now: number,
): Quota | undefined {
  const remaining = toCount(textOfField("remaining"));
  if (remaining === undefined) return undefined;
  const limit = toCount(textOfField("limit"));
  const resetMs = toDelay(textOfField("reset"), now);
  return { remaining, refill, ...(limit !== undefined && { limit }), ...(resetMs !== undefined && { resetMs }) };
}

/** `"burst";r=50;t=30, "daily";r=900;t=4000`, or `limit=100, remaining=50, reset=5` in older drafts. The scarcest counts. */
function fromDraft(text: string | undefined): Quota | undefined {
  if (text === undefined) return undefined;
  const policies = text.includes(";") ? text.split(",") : [text];
  const quotas = policies.flatMap((policy) => {
    const remaining = toCount(/\b(?:r|remaining)=(\d+)/.exec(policy)?.[1]);
    const resetMs = toDelay(/\b(?:t|reset)=(\d+)/.exec(policy)?.[1], 0);
    return remaining === undefined
      ? []
      : [{ remaining, refill: "at-reset" as const, ...(resetMs !== undefined && { resetMs }) }];
  });
  return quotas.toSorted((a, b) => a.remaining - b.remaining)[0];
}

function textOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value.length <= MAX_CHARACTERS ? value.trim() : undefined;
}

/** Some send -1 for "no limit", which says nothing. */
function toCount(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text)) return undefined;
  return Math.min(MAX_COUNT, Math.floor(Number(text)));
}

/** A duration (`1m30.5s`, `20ms`), a number of seconds, a time since the epoch in seconds or milliseconds, or a date. */
function toDelay(text: string | undefined, now: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = isNumber(text) ? fromNumber(Number(text), now) : (parseDuration(text) ?? Date.parse(text) - now);
  return Number.isNaN(ms) ? undefined : Math.min(MAX_MS, Math.max(0, Math.ceil(ms)));
}

function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

/** Nobody waits for thirty years: a number that large is a point in time. */
function fromNumber(value: number, now: number): number {
  if (value > 1e11) return value - now;
  return value > 1e9 ? value * 1000 - now : value * 1000;
}

/** `1m30.5s`, `20ms`: in milliseconds. Undefined: it is no duration. */
export function parseDuration(text: string): number | undefined {
  const parts = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text);
  if (parts === null || text === "") return undefined;
  const [days, hours, minutes, seconds, ms] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000 + (ms ?? 0);
}
