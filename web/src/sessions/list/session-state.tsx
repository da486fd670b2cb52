// What is known of a session at a glance.

import type { VNode } from "preact";
import type { SessionInfo } from "rlm-runtime/client";
import { Status } from "../../parts/feedback/status.tsx";
import { toSafeText } from "../../parts/safe-text.ts";

/** `running, 2 waiting`. */
export function SessionState({
  info,
  isSmall = false,
}: {
  readonly info: SessionInfo;
  readonly isSmall?: boolean;
}): VNode {
  const { state, waiting } = info;
  return <Status state={state} word={waiting > 0 ? `${state}, ${waiting} waiting` : undefined} isSmall={isSmall} />;
}

export function environmentOf({ environment, tier }: Pick<SessionInfo, "environment" | "tier">): string {
  return toSafeText(
    tier === null || tier === environment
      ? environment
      : `${environment} · ${tier.length === 1 ? `tier ${tier}` : tier}`,
  );
}

export function activeAt({ lastExecutedAt, createdAt }: SessionInfo): string {
  return lastExecutedAt ?? createdAt;
}
