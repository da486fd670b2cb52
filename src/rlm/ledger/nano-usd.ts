// Money as whole billionths of a dollar: sums are exact in any order, so that what was given back leaves nothing behind and a limit
// is met to the last digit. Up to nine million dollars.

const NANOS = 1_000_000_000;

/** Rounded up, but for the noise of binary fractions: for what is reserved. */
export function toNanoUsd(usd: number): number {
  return Math.ceil(Math.round(usd * NANOS * 1_000) / 1_000);
}

/** To the nearest: for what was spent. Never more than the same amount reserved. */
export function toSpentNanoUsd(usd: number): number {
  return Math.round(usd * NANOS);
}

export function toUsd(nanoUsd: number): number {
  return nanoUsd / NANOS;
}
