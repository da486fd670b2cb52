// Waiting until no code runs in a session, for what is done between executions.

import type { Session } from "../../../session/session.ts";
import { ArgumentsError } from "../tools/tool.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { watch } from "./progress.ts";
import { toStatusCall } from "../render/format.ts";

/** No longer than Python itself is waited for. Throws ArgumentsError, with what runs and how it is ended; nothing was done then. */
export async function waitUntilIdle(call: ToolCall, session: Session): Promise<void> {
  const until = performance.now() + call.waits.pythonMs;
  for (;;) {
    const { running } = session;
    if (running === undefined) return;
    const watched = { ended: running.result, waitMs: until - performance.now(), lastLine: () => running.lastLine() };
    if (watched.waitMs > 0 && (await watch(watched, call))) continue;
    const { id } = call.runtime.tasks.adopt(running);
    const end = call.offers("shell_status") ? `, or end it with ${toStatusCall(id, { kill: true })}` : "";
    throw new ArgumentsError(
      `Session '${session.id}' is busy with task ${id}, and nothing was done. Try again when it has ended${end}.`,
    );
  }
}
