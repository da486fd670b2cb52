// What clients request of a session, over HTTP and WebSockets alike.

import type { ExecuteBody, StdinBody } from "../../protocol/api/executions.ts";
import type { ServerMessage } from "../../protocol/api/web-socket.ts";
import type { InterruptAnswer } from "../../protocol/sessions.ts";
import type { VariableList } from "../../protocol/variables.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { SessionOptions } from "../../session/options.ts";
import type { Session } from "../../session/session.ts";
import { withTimeout } from "../../util/async/with-timeout.ts";
import { randomId } from "../../util/make-id.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { ProblemError, toProblem, toSummary } from "../net/problem.ts";
import type { ActivityOrigin } from "../observability/activity-tracker.ts";
import type { Keeping } from "./executions.ts";
import type { ServerContext } from "./server-context.ts";

/** An interrupt that has no effect ends the worker after two seconds. */
const INTERRUPT_MS = 5_000;

type ExecuteRequest = Omit<ExecuteBody, "variables" | "onDisconnect">;

/** Runs code in a session of its own, which ends with it. Rejects with what `Runtime.openSession` and `Executions.start` throw. */
export async function startOneOff(
  body: ExecuteRequest,
  sessionOptions: SessionOptions,
  origin: ActivityOrigin,
  context: ServerContext,
): Promise<Execution> {
  const { runtime } = context;
  const session = await runtime.openSession({ ...sessionOptions, id: randomId("x") });
  const end = (): void => {
    void session.discard();
    runtime.sessions.closed.forget(session.id);
  };
  try {
    const execution = startExecution(session, body, origin, context, "with-output");
    execution.result.then(end, end);
    return execution;
  } catch (error) {
    end();
    throw error;
  }
}

/** Throws what `Executions.start` throws. */
export function startExecution(
  session: Session,
  { id, code, input, timeoutMs, env, fileName }: ExecuteRequest,
  origin: ActivityOrigin,
  { executions, activity }: ServerContext,
  keeping?: Keeping,
): Execution {
  const options = {
    ...omitUndefined({ id, timeoutMs, env, fileName }),
    ...(input === "ask" && { onInput: "ask" as const }),
  };
  const execution = executions.start(session, code, options, keeping);
  activity.track({ execution }, origin);
  return execution;
}

type FinalEvent = Extract<ServerMessage, { readonly type: "execution-failed" | "variables" }>;

/**
 * The event that follows the last one of an execution, if any: why the session could not run it, or the variables as they are then.
 * Variables that cannot be read, for example because the session has closed, are omitted.
 */
export async function finalEvent(
  { id: executionId, result }: Execution,
  readVariables: (() => Promise<VariableList>) | undefined,
): Promise<FinalEvent | undefined> {
  try {
    await result;
  } catch (error) {
    return { type: "execution-failed", executionId, problem: toSummary(toProblem(error)) };
  }
  const variables = await readVariables?.().catch(() => undefined);
  return variables && { type: "variables", executionId, ...variables };
}

/** Throws a ProblemError when the execution waits for no input. */
export function answerInput({ pendingInput }: Execution, { text, why, call }: StdinBody): void {
  if (!pendingInput.answer({ text, why }, call)) throw new ProblemError(NOT_WAITING);
}

const NOT_WAITING = {
  status: 409,
  code: "NOT_WAITING",
  detail: "The execution waits for no input: it was answered, has ended, or was started without `input: ask`",
};

/** Resolves when the execution has stopped, or after five seconds. */
export async function interruptSession(session: Session): Promise<InterruptAnswer> {
  const execution = session.interrupt();
  if (execution === undefined) return { interrupted: null, hasEnded: true, state: null };
  const result = await withTimeout(INTERRUPT_MS, execution.result).catch(() => undefined); // the session may have closed
  return { interrupted: execution.id, hasEnded: result !== undefined, state: result?.state ?? null };
}
