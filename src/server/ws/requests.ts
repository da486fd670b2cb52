// The requests of a WebSocket. They reach only executions of its own session: its ticket may be for one session alone.

import { ExecutionNotFoundError } from "../../errors.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import type { ServerContext } from "../context/server-context.ts";
import { answerInput, finalEvent, interruptSession, startExecution } from "../context/session-requests.ts";
import { ProblemError, SHUTTING_DOWN } from "../net/problem.ts";
import type { ActivityOrigin } from "../observability/activity-tracker.ts";
import type { ClientMessage, ReplyFields } from "../../protocol/api/web-socket.ts";
import type { Watcher } from "./watcher.ts";

interface Connection {
  readonly watcher: Watcher;
  readonly session: Session;
  readonly origin: ActivityOrigin;
  readonly context: ServerContext;
}

/** What it throws becomes a reply that is not ok. */
export function handleRequest(message: ClientMessage, connection: Connection): ReplyFields | Promise<ReplyFields> {
  const { session, context } = connection;
  switch (message.type) {
    case "execute":
      return execute(message, connection);
    case "interrupt":
      return interruptSession(session);
    case "cancel": {
      const execution = executionOf(message.executionId, session, context);
      execution.cancel();
      return { executionId: execution.id };
    }
    case "stdin": {
      const execution = executionOf(message.executionId, session, context);
      answerInput(execution, message);
      return { executionId: execution.id };
    }
    case "follow":
      return follow(message.executionId, message.after, connection);
    case "ping":
      return {};
  }
}

function execute(
  { type: _type, id: _id, key, ...body }: Extract<ClientMessage, { type: "execute" }>,
  { watcher, session, origin, context }: Connection,
): ReplyFields | Promise<ReplyFields> {
  if (context.draining.aborted) throw new ProblemError(SHUTTING_DOWN);
  const start = (): string => {
    const execution = startExecution(session, body, origin, context);
    const variables = body.variables ? () => session.variables() : undefined;
    void finalEvent(execution, variables).then((event) => event && watcher.send(event));
    return execution.id;
  };
  const { id, isRetry } = context.idempotency.once(key ?? null, `execute ${session.id}`, body, start);
  const toReply = (executionId: string): ReplyFields => ({ executionId, ...(isRetry && { replayed: true }) });
  return typeof id === "string" ? toReply(id) : id.then(toReply);
}

function follow(id: string, after: string | undefined, { watcher, session, context }: Connection): ReplyFields {
  const execution = executionOf(id, session, context);
  try {
    watcher.follow(execution, after);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ProblemError({ status: 422, code: "INVALID", detail: error.message });
  }
  return { executionId: execution.id };
}

/** The running execution may have been started over another interface. Throws ExecutionNotFoundError. */
function executionOf(id: string, session: Session, { executions }: ServerContext): Execution {
  if (session.running?.id === id) return session.running;
  const execution = executions.get(id);
  if (execution.sessionId === session.id) return execution;
  throw new ExecutionNotFoundError({ executionId: id });
}
