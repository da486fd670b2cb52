import { readFileSync } from "node:fs";

/** How many files this process may have open. Node has raised it to the hard limit. Infinity: unknown. */
export function openFileLimit(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    return Number(/^Max open files +(?<soft>\d+)/m.exec(limits)?.groups?.["soft"] ?? Infinity);
  } catch {
    return Infinity;
  }
}
