// The details that Google adds to an error: when to ask again, which quota is used up, and a reason.

import { toFields } from "../protocols/wire-protocol.ts";
import { parseRetryAfter } from "./retry-after.ts";

const MAX_DETAILS = 20;

export interface GoogleDetails {
  readonly retryAfterMs: number | null;
  /** Reasons and names of quotas, such as `API_KEY_INVALID` or `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
  readonly codes: readonly string[];
}

export function readGoogleDetails(value: unknown): GoogleDetails {
  const details = listOf(value);
  const delays = details.map(({ retryDelay }) => toMs(retryDelay)).filter((ms) => ms !== null);
  const quotas = details.flatMap(({ violations }) => listOf(violations)).map(({ quotaId }) => quotaId);
  const codes = [...details.map(({ reason }) => reason), ...quotas].filter((code) => typeof code === "string");
  return { retryAfterMs: delays[0] ?? null, codes };
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.slice(0, MAX_DETAILS).map(toFields) : [];
}

/** A duration as protocol buffers write it: `34s`, `0.5s`. */
function toMs(duration: unknown): number | null {
  const [, seconds] = typeof duration === "string" ? (/^(\d+(?:\.\d+)?)s$/.exec(duration) ?? []) : [];
  return seconds === undefined ? null : parseRetryAfter({ "retry-after": seconds }, 0);
}
