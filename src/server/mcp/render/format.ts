// Small things that results say in the same words everywhere.

import type { Usage } from "../../../protocol/execution.ts";
import { DEFAULT_SESSION } from "../tools/tool-call.ts";

const INFORMATIVE_MS = 1_000;
/** For what printed nothing that can be seen, such as blank lines. */
export const NO_OUTPUT = "[no output]";

/** Empty for what was quick: nobody asks how long that took. */
export function toTime(durationMs: number): string {
  return durationMs > INFORMATIVE_MS ? `${toSeconds(durationMs)} s` : "";
}

export function toSeconds(durationMs: number): string {
  const seconds = durationMs / 1000;
  return seconds < 10 ? String(Number(seconds.toFixed(1))) : String(Math.round(seconds));
}

/** `[exit 1 · 6.2 s]`; empty where no part says anything. */
export function toNote(...parts: readonly string[]): string {
  const said = parts.filter((part) => part !== "");
  return said.length === 0 ? "" : `[${said.join(" · ")}]`;
}

/** The parts that say something, each on lines of its own. */
export function joinParts(...parts: readonly string[]): string {
  let joined = "";
  for (const part of parts) {
    const text = withoutLastNewlines(part);
    if (text !== "") joined = joined === "" ? text : `${joined}\n${text}`;
  }
  return joined;
}

/** Code chooses the text: a pattern would look at each of a hundred thousand newlines in it from every other one. */
function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end -= 1;
  return text.slice(0, end);
}

/** The very call that a model makes next. */
export function toStatusCall(taskId: string, args: Readonly<Record<string, number | boolean>> = {}): string {
  const given = Object.entries(args).map(([name, value]) => `, ${name}=${value}`);
  return `shell_status(task_id="${taskId}"${given.join("")})`;
}

/** What one call prints, with room to spare in its answer. */
const PAGE = 8_000;

/** The call that prints a part of the text of something, from and up to a character of it. */
export function toReprCall(name: string, [from, to]: readonly [number, number], sessionId: string): string {
  const code = `print(repr(${name})[${from}:${Math.min(to, from + PAGE)}])`;
  const session = sessionId === DEFAULT_SESSION ? "" : `, session_id="${sessionId}"`;
  return `execute_python(code="${code}"${session})`;
}

/** For programs. */
export function toUsageFacts({ cpuMs, peakMemoryBytes }: Usage): Readonly<Record<string, number>> {
  return { cpu_ms: Math.round(cpuMs), peak_memory_bytes: peakMemoryBytes };
}

export function toCount(count: number, thing: string): string {
  return `${count.toLocaleString("en-US")} ${thing}${count === 1 ? "" : "s"}`;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function toSize(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${Number(amount.toFixed(amount < 10 && unit > 0 ? 1 : 0))} ${UNITS[unit]}`;
}
