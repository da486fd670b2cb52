// The one table from errors to messages for a model. Each message says what to do.

import {
  EnvironmentUnavailableError,
  ForkRefusedError,
  LimitExceededError,
  RLMError,
  REPLSecurityError,
  SessionBusyError,
  SessionClosedError,
  SessionExistsError,
  SessionNotFoundError,
  TaskNotFoundError,
} from "../../../errors.ts";
import type { Runtime } from "../../../runtime.ts";
import { ArgumentsError } from "../tools/arguments-error.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { shorten } from "../../../util/text/shorten.ts";

const MAX_LISTED = 20;
const MAX_ID = 80;

type Server = Pick<ToolCall, "runtime" | "offers">;

/** Undefined: an internal error, which is not shown. Names no tool that the server does not offer. */
export function renderError(error: unknown, { runtime, offers }: Server): string | undefined {
  if (error instanceof SessionNotFoundError)
    return `No session '${shorten(error.sessionId, MAX_ID)}'. ${listSessions(runtime)} ${toAnother(offers)}`;
  if (error instanceof TaskNotFoundError)
    return `No task '${shorten(error.taskId, MAX_ID)}'. ${listTasks(runtime)} Ended tasks are kept for an hour.`;
  if (error instanceof SessionExistsError)
    return `Session '${error.sessionId}' exists. Use it, ${offers("destroy_repl_session") ? "destroy it with destroy_repl_session, " : ""}or choose another session_id.`;
  if (error instanceof SessionClosedError) return `${error.message}. Its variables are gone. ${toAnother(offers)}`;
  if (error instanceof SessionBusyError)
    return `Session '${error.sessionId}' has ${error.waiting} executions waiting. Try again when some have ended, or use another session.`;
  if (error instanceof ForkRefusedError && error.capability === null)
    return `${error.message}. ${toInsteadOfCopy(offers)}`;
  if (error instanceof LimitExceededError) return `${error.message}. ${toLimitAdvice(offers)}`;
  if (error instanceof EnvironmentUnavailableError) return `Cannot run anything here: ${error.why}. ${error.fix}`;
  if (error instanceof REPLSecurityError && error.action === "mount")
    return `${error.message}. The server shows this folder to every session: put it back, or restart the server without it.`;
  if (error instanceof RLMError || error instanceof ArgumentsError) return endSentence(error.message);
  // A wrong API argument comes from the model here. The engine's own errors have other messages.
  if ((error instanceof TypeError || error instanceof RangeError) && OURS.test(error.message))
    return endSentence(error.message);
  return undefined;
}

const OURS = /^Cannot (?!read prop|set prop|destructure|convert|access|mix|delete|assign|add prop|define|redefine)/;

function toInsteadOfCopy(offers: ToolCall["offers"]): string {
  const canSave = offers("save_repl_session") && offers("load_repl_session");
  const way = canSave ? ", or use save_repl_session, then load_repl_session with another session_id" : "";
  return `Try again when its code has ended${way}.`;
}

function toAnother(offers: ToolCall["offers"]): string {
  return offers("create_repl_session") ? "Call create_repl_session to make one." : "Leave session_id out.";
}

function toLimitAdvice(offers: ToolCall["offers"]): string {
  const session = offers("destroy_repl_session") && "destroy_repl_session ends a session";
  const task = offers("shell_status") && "shell_status(task_id, kill=true) ends a task";
  const ways = [session, task].filter((way) => way !== false);
  return ways.length === 0 ? "Try again later." : `${ways.join(", ")}.`;
}

function listSessions(runtime: Runtime): string {
  const ids = runtime.sessions.list().map(({ id }) => id);
  return ids.length === 0 ? "There are none yet." : `Existing: ${list(ids)}.`;
}

function listTasks(runtime: Runtime): string {
  const ids = runtime.tasks.list().map(({ id }) => id);
  return ids.length === 0 ? "There are none." : `Existing: ${list(ids.toReversed())}.`;
}

function list(ids: readonly string[]): string {
  const more = ids.length > MAX_LISTED ? `, and ${ids.length - MAX_LISTED} more` : "";
  return ids.slice(0, MAX_LISTED).join(", ") + more;
}

function endSentence(text: string): string {
  return /[.!?)\]]$/.test(text) ? text : `${text}.`;
}
