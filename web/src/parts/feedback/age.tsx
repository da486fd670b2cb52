// How long ago something was, or how long it takes so far. It ticks.

import type { VNode } from "preact";
import { useContext } from "preact/hooks";
import { formatAge, formatDuration } from "../format.ts";
import { ClockContext } from "./clock.ts";

interface AgeProps {
  /** Milliseconds since the epoch, or a date and time. */
  readonly since: number | string;
  /** `ago`: "12 s". `time`: "0:12" as of something that runs. Default: `ago`. */
  readonly as?: "ago" | "time";
  /** Follows it, but for "now". As in " ago". */
  readonly suffix?: string;
}

export function Age({ since, as = "ago", suffix = "" }: AgeProps): VNode {
  const now = useContext(ClockContext).now.value;
  const start = typeof since === "number" ? since : Date.parse(since);
  const ms = Math.max(0, now - start);
  const text = as === "ago" ? formatAge(ms) : formatDuration(Math.floor(ms / 1_000) * 1_000);
  return (
    <time class="figures" dateTime={new Date(start).toISOString()} title={new Date(start).toLocaleString()}>
      {text === "now" ? text : text + suffix}
    </time>
  );
}
