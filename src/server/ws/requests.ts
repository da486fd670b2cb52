// What a watcher may ask for. Only executions of its own session are its business: a ticket may be for one session alone.

import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import type { Door } from "../http/server-context.ts";
import { ENDING, ProblemError, toProblem, toWire } from "../net/problem.ts";
import { answerInput, start } from "../http/routes/executions.ts";
import { interruptIn } from "../http/routes/sessions.ts";
import type { Origin } from "../observability/activity.ts";
import type { ClientMessage, ReplyFields } from "../../protocol/api/web-socket.ts";
import type { Watcher } from "./watcher.ts";

/** Who asks, and about what. */
interface Around {
  readonly watcher: Watcher;
  readonly session: Session;
  readonly origin: Origin;
  readonly door: Door;
}

/** Throws what becomes a reply that is not ok. */
export function answerRequest(message: ClientMessage, around: Around): ReplyFields | Promise<ReplyFields> {
  const { session, door } = around;
  switch (message.type) {
    case "execute":
      return execute(message, around);
    case "interrupt":
      return interruptIn(session);
    case "cancel": {
      const execution = executionOf(message.executionId, session, door);
      execution.cancel();
      return { executionId: execution.id };
    }
    case "stdin": {
      const execution = executionOf(message.executionId, session, door);
      answerInput(execution, message.text, door);
      return { executionId: execution.id };
    }
    case "follow":
      return follow(message.executionId, message.after, around);
    case "ping":
      return {};
  }
}

function execute(
  { type: _type, id: _id, key, ...body }: Extract<ClientMessage, { type: "execute" }>,
  { watcher, session, origin, door }: Around,
): ReplyFields | Promise<ReplyFields> {
  if (door.draining.aborted) throw new ProblemError(ENDING);
  const begin = (): string => {
    const execution = start(session, body, origin, door);
    tellRest(execution, body.variables, watcher, session);
    return execution.id;
  };
  const { id, isRetry } = door.retries.once(key ?? null, `execute ${session.id}`, body, begin);
  const toReply = (executionId: string): ReplyFields => ({ executionId, ...(isRetry && { replayed: true }) });
  return typeof id === "string" ? toReply(id) : id.then(toReply);
}

/** What is not an event of the session. */
function tellRest(execution: Execution, wantsVariables: boolean, watcher: Watcher, session: Session): void {
  const { id: executionId } = execution;
  const tellVariables = async (): Promise<void> => {
    const variables = await session.variables().catch(() => undefined); // it has closed
    if (variables !== undefined) watcher.tell({ type: "variables", executionId, ...variables });
  };
  execution.result.then(
    () => (wantsVariables ? tellVariables() : undefined),
    (error: unknown) => watcher.tell({ type: "execution-failed", executionId, problem: toWire(toProblem(error)) }),
  );
}

function follow(id: string, after: string | undefined, { watcher, session, door }: Around): ReplyFields {
  const execution = executionOf(id, session, door);
  try {
    watcher.follow(execution, after);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ProblemError({ status: 422, code: "INVALID", detail: error.message });
  }
  return { executionId: execution.id };
}

/** Of this session; what runs may have begun at another door. Throws a ProblemError. */
function executionOf(id: string, session: Session, { executions }: Door): Execution {
  if (session.running?.id === id) return session.running;
  const execution = executions.get(id);
  if (execution.sessionId === session.id) return execution;
  const detail = `The execution '${id}' is none of session '${session.id}'`;
  throw new ProblemError({ status: 404, code: "EXECUTION_NOT_FOUND", detail });
}
