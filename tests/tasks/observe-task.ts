// Observes tasks from tests: what a command has printed, and which processes are alive.

import type { Session, ShellTask } from "../internals.ts";
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

/** How much it has printed, once it prints nothing for a moment. */
export async function comesToRest(task: ShellTask): Promise<number> {
  for (;;) {
    const { totalBytes } = task.output({ length: 0 });
    await task.wait(50);
    if (task.output({ length: 0 }).totalBytes === totalBytes) return totalBytes;
  }
}

/** Processes in the sandbox with this word in their command line. */
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
