import { readFileSync } from "node:fs";

/** Process ids are reused; together with the start time they are unique. Null: there is no such process. */
export function startOfProcess(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[19] ?? null;
  } catch {
    return null;
  }
}
