// Writes what happens in the runtime of a command to its log.

import type { SessionEvent } from "../../protocol/events.ts";
import type { ProcessEvent } from "../../environments/environment.ts";
import type { Runtime } from "../../runtime.ts";
import type { Session } from "../../session/session.ts";
import type { Log } from "../../server/observability/log.ts";

const MAX_CHARACTERS = 500;

export function logRuntime(runtime: Runtime, log: Log): void {
  runtime.sessions.observer = {
    onOpened: (session) => logSession(session, log),
    onClosing: ({ id }, why) => log.write("info", "session-close", { sessionId: id, why }),
  };
  runtime.onProcess = (event) => logProcess(event, log);
}

/** The processes of a session are for `debug`: a pool starts and ends many that no session has used yet. */
export function logProcess({ type, kind, id, facts }: ProcessEvent, log: Pick<Log, "write">): void {
  log.write(kind === "fork-server" ? "info" : "debug", `process-${type}`, { kind, id, ...facts });
}

function logSession(session: Session, log: Log): void {
  const sessionId = session.id;
  log.write("info", "session-open", { sessionId });
  session.subscribe((event) => logEvent(event, log));
}

function logEvent(event: SessionEvent, log: Log): void {
  if (event.type === "execution-start") {
    const { sessionId, executionId, code } = event;
    log.write("info", "execution-start", {
      sessionId,
      executionId,
      code: log.isDebug ? code.slice(0, MAX_CHARACTERS) : undefined,
    });
  } else if (event.type === "execution-end") {
    const { sessionId, executionId, status, reason, state, durationMs, usage } = event.result;
    const end = { status, reason, state, durationMs: Math.round(durationMs), ...usage };
    log.write("info", "execution-end", { sessionId, executionId, ...end });
  } else if (event.type === "session-reset") {
    const { sessionId, epoch, why } = event;
    log.write("warn", "session-reset", { sessionId, epoch, why });
  }
}
