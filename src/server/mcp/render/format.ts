// Phrases that several results have in common.

import type { Usage } from "../../../protocol/execution.ts";
import { formatSeconds } from "../../../util/text/format.ts";
import type { WorkFacts } from "../output-schema.ts";
import { DEFAULT_SESSION } from "../tools/tool-call.ts";

const INFORMATIVE_MS = 1_000;
/** Shown for output that is empty or only white space. */
export const NO_OUTPUT = "[no output]";

/** Empty below a second, where the time does not matter. */
export function toTime(durationMs: number): string {
  return durationMs > INFORMATIVE_MS ? formatSeconds(durationMs) : "";
}

/** `[exit 1 · 6.2 s]`; empty if all parts are. */
export function toNote(...parts: readonly string[]): string {
  const note = parts.filter((part) => part !== "").join(" · ");
  return note === "" ? "" : `[${note}]`;
}

/** The parts that are not empty, each on its own lines. */
export function joinParts(...parts: readonly string[]): string {
  let joined = "";
  for (const part of parts) {
    const text = withoutLastNewlines(part);
    if (text !== "") joined = joined === "" ? text : `${joined}\n${text}`;
  }
  return joined;
}

/** A loop, because a regular expression takes quadratic time on text that is all newlines. */
function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end -= 1;
  return text.slice(0, end);
}

/** The call that the model should make next. */
export function toStatusCall(taskId: string, args: Readonly<Record<string, number | boolean>> = {}): string {
  const more = Object.entries(args).map(([name, value]) => `, ${name}=${value}`);
  return `shell_status(task_id="${taskId}"${more.join("")})`;
}

/** Characters that one call prints; fits into its result. */
const PAGE = 8_000;

/** The call that prints characters `from` to `to` of a variable's repr. */
export function toReprCall(name: string, [from, to]: readonly [number, number], sessionId: string): string {
  const code = `print(repr(${name})[${from}:${Math.min(to, from + PAGE)}])`;
  const session = sessionId === DEFAULT_SESSION ? "" : `, session_id="${sessionId}"`;
  return `execute_python(code="${code}"${session})`;
}

/** For structured results. */
export function toUsageFacts({ cpuMs, peakMemoryBytes }: Usage): Pick<WorkFacts, "cpu_ms" | "peak_memory_bytes"> {
  return { cpu_ms: Math.round(cpuMs), peak_memory_bytes: peakMemoryBytes };
}
