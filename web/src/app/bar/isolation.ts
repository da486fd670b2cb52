// How the isolation of sessions reads.

import type { RuntimeInfo } from "rlm-runtime/client";

const TIERS: Readonly<Record<string, string>> = { "seat-belt": "seat belt", container: "container" };

export interface Isolation {
  /** As in "local · tier A". */
  readonly name: string;
  /** Something gets through that the strongest tier stops. */
  readonly isWeak: boolean;
}

export function describeIsolation({
  environment,
  tier,
  notStopped,
}: Pick<RuntimeInfo, "environment" | "tier" | "notStopped">): Isolation {
  const isWeak = notStopped.length > 0;
  if (tier === null) return { name: environment, isWeak };
  return { name: `${environment} · ${TIERS[tier] ?? (tier.length === 1 ? `tier ${tier}` : tier)}`, isWeak };
}
