// What a measure gave, and how that compares with what is usual.

import type { Measure } from "./measures.ts";
import type { Sampled } from "./sampling.ts";

export type Verdict = "good" | "slow" | "very slow" | "failed" | "not here";

export interface MeasureResult {
  readonly name: string;
  readonly oursMs: number | null;
  /** The least that this machine needs for the like. Null: there is nothing to compare with. */
  readonly floorMs: number | null;
  /** Ours divided by the floor. */
  readonly ratio: number | null;
  /** The most that is usual. */
  readonly usual: Measure["usual"];
  readonly bytes?: number;
  /** `not here`: the environment cannot do it. */
  readonly verdict: Verdict;
  /** Why it failed. */
  readonly error?: string;
}

/** Up to so many times what is usual is slow; more is very slow. */
const SLOW = 3;

export function toResult(measure: Measure, { oursMs, floorMs }: Sampled): MeasureResult {
  const { usual } = measure;
  const ratio = floorMs === null ? null : oursMs / floorMs;
  const excess = "ms" in usual ? oursMs / usual.ms : (ratio ?? 0) / usual.ratio;
  const verdict = excess <= 1 ? "good" : excess <= SLOW ? "slow" : "very slow";
  return { ...factsOf(measure), oursMs, floorMs, ratio, verdict };
}

export function toFailure(measure: Measure, error: unknown): MeasureResult {
  const message = error instanceof Error ? error.message : String(error);
  return { ...factsOf(measure), oursMs: null, floorMs: null, ratio: null, verdict: "failed", error: message };
}

export function toMissing(measure: Measure): MeasureResult {
  return { ...factsOf(measure), oursMs: null, floorMs: null, ratio: null, verdict: "not here" };
}

/** All together. What cannot be done here is neither a failure nor slow. */
export function judge(results: readonly MeasureResult[]): { readonly ok: boolean; readonly isSlow: boolean } {
  const verdicts = new Set(results.map(({ verdict }) => verdict));
  return { ok: !verdicts.has("failed"), isSlow: verdicts.has("slow") || verdicts.has("very slow") };
}

function factsOf({ name, usual, bytes }: Measure): Pick<MeasureResult, "name" | "usual" | "bytes"> {
  return { name, usual, ...(bytes !== undefined && { bytes }) };
}
