// Waits until no code runs in a session.

import type { Session } from "../../../session/session.ts";
import { ArgumentsError } from "../tools/arguments-error.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { waitForEnd } from "./progress.ts";
import { toStatusCall } from "../render/format.ts";

/** Waits as long as for Python itself, then throws an ArgumentsError that names the running task and how to end it. */
export async function waitUntilIdle(call: ToolCall, session: Session): Promise<void> {
  const until = performance.now() + call.timings.pythonMs;
  for (;;) {
    const { running } = session;
    if (running === undefined) return;
    const work = { ended: running.result, waitMs: until - performance.now(), lastLine: () => running.lastLine() };
    if (work.waitMs > 0 && (await waitForEnd(work, call))) continue;
    const { id } = call.runtime.tasks.adopt(running);
    const end = call.offers("shell_status") ? `, or end it with ${toStatusCall(id, { kill: true })}` : "";
    throw new ArgumentsError(
      `Session '${session.id}' is busy with task ${id}, and nothing was done. Try again when it has ended${end}.`,
    );
  }
}
