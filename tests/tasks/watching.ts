// What tests of tasks look at: what a command has printed, and what of it lives.

import type { Session, ShellTask } from "../../src/index.ts";
import { valueOf } from "../open.ts";

/** Resolves when the task has printed this. */
export async function printed(task: ShellTask, text: string): Promise<void> {
  let seen = "";
  for await (const event of task) {
    if (event.type === "output-delta") seen += event.text;
    if (seen.includes(text)) return;
  }
  throw new Error(`it ended without: ${seen}`);
}

/** How much it had printed when nothing more came for a moment; never resolves for a task that prints all the time. */
export async function comesToRest(task: ShellTask): Promise<number> {
  for (;;) {
    const { totalBytes } = task.output({ length: 0 });
    await task.wait(50);
    if (task.output({ length: 0 }).totalBytes === totalBytes) return totalBytes;
  }
}

/** Processes inside the session's sandbox whose command line has this in it. */
export async function processesIn(session: Session, word: string): Promise<string> {
  const code = `
import os
def command(pid):
    try:
        return open(f"/proc/{pid}/cmdline").read().split("\\0"), open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
    except OSError:
        return [], "X"
sorted(state for words, state in (command(pid) for pid in os.listdir("/proc") if pid.isdigit()) if ${JSON.stringify(word)} in words and state not in "ZX")`;
  return (await valueOf(session, code)) ?? "";
}
