// When an idle session closes by itself.

import type { VNode } from "preact";
import { useContext } from "preact/hooks";
import type { SessionInfo } from "rlm-runtime/client";
import { ClockContext } from "../../parts/feedback/clock.ts";
import { formatAge } from "../../parts/format.ts";

export function ClosesIn({ info }: { readonly info: Pick<SessionInfo, "expiresAt" | "idleTimeoutMs"> }): VNode {
  const now = useContext(ClockContext).now.value;
  if (info.idleTimeoutMs === null) return <span>never</span>;
  if (info.expiresAt === null) return <span title="Code runs, or somebody has it open">in use</span>;
  const ms = Date.parse(info.expiresAt) - now;
  return (
    <span class="figures" title={new Date(info.expiresAt).toLocaleString()}>
      {ms < 2_000 ? "now" : `in ${formatAge(ms)}`}
    </span>
  );
}
