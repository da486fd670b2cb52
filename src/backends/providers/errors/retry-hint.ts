// How long a provider asks to wait where it sends no Retry-After: in headers about limits, in the body, or in words.

import { parseDuration, parseRateLimits } from "../rate-limit-headers.ts";
import { toFields, type Fields } from "../protocols/wire-protocol.ts";
import { toHeaders } from "./to-headers.ts";

interface Rejected {
  /** Of the response, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The error object of the body. OpenRouter has headers of its own limits in there. */
  readonly reported: Fields;
  readonly message: string;
}

const MAX_MS = 86_400_000;

/** Null: it does not say. `now` is in milliseconds since the epoch. */
export function readRetryHint({ headers, reported, message }: Rejected, now: number): number | null {
  const inBody = toHeaders(toFields(reported["metadata"])["headers"]);
  const quota = parseRateLimits({ ...headers, ...inBody }, now)?.requests;
  if (quota?.remaining === 0 && quota.resetMs !== undefined) {
    const { refill, limit = 1, resetMs } = quota;
    return refill === "gradual" ? Math.ceil(resetMs / Math.max(1, limit)) : resetMs;
  }
  // OpenAI and Groq: "Please try again in 1m2.5s."
  const [, duration = ""] = /try again in ([\d.hms]{2,20})/i.exec(message) ?? [];
  const ms = parseDuration(duration.replace(/\.$/, ""));
  return ms === undefined ? null : Math.min(MAX_MS, Math.ceil(ms));
}
