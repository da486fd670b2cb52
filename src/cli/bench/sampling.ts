// Takes samples of two contenders in turns: a busy machine slows whatever runs, so both must run in the same moments.
//
// The result of each is the median of its best round, because in some round it had the machine for itself.

import { withTimeout } from "../../util/async/with-timeout.ts";

/** One sample, in milliseconds. */
export type Sample = () => Promise<number>;

export interface Contest {
  readonly ours: Sample;
  /** Absent: there is nothing to compare with. */
  readonly floor?: Sample;
  /** Samples in a round. Default: 3. */
  readonly perRound?: number;
}

export interface Sampled {
  readonly oursMs: number;
  readonly floorMs: number | null;
}

const MIN_ROUNDS = 2;
const MAX_ROUNDS = 40;
/** A sample that takes longer has failed. */
const SAMPLE_MS = 30_000;

/** Takes samples for about so long, but at least two rounds. */
export async function sample({ ours, floor, perRound = 3 }: Contest, budgetMs: number): Promise<Sampled> {
  await within(ours()); // not counted
  if (floor !== undefined) await within(floor());
  const best = { ours: Infinity, floor: Infinity };
  const began = performance.now();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (round >= MIN_ROUNDS && performance.now() - began > budgetMs) break;
    if (floor !== undefined) best.floor = Math.min(best.floor, await medianOf(floor, perRound));
    best.ours = Math.min(best.ours, await medianOf(ours, perRound));
  }
  return { oursMs: best.ours, floorMs: floor === undefined ? null : best.floor };
}

/** The milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function medianOf(contender: Sample, count: number): Promise<number> {
  const samples: number[] = [];
  while (samples.length < count) samples.push(await within(contender()));
  return samples.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Infinity;
}

async function within(work: Promise<number>): Promise<number> {
  const ms = await withTimeout(SAMPLE_MS, work);
  if (ms === undefined) throw new Error(`it took longer than ${SAMPLE_MS / 1000} s`);
  return ms;
}
