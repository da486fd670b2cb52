// Schemas of identifiers. Apart from the types, which code uses that should not load zod.

import { z } from "zod";
import { SESSION_ID, WORK_ID, type ExecutionId, type RunId, type SessionId, type TaskId } from "./ids.ts";

export const sessionId = branded<SessionId>("The id of the session");
export const executionId = branded<ExecutionId>("The id of the execution");
export const runId = branded<RunId>("The id of the run");
export const taskId = branded<TaskId>("The id of the task");

/** An id that a caller chooses. */
export const newSessionId = z.string().regex(SESSION_ID, "must be letters, digits, '.', '_', '-', at most 64");

/** The same, of an execution, a task or a run. The same id is the same work. */
export const newWorkId = z.string().regex(WORK_ID, "must be letters, digits, '.', '_', '-', at most 128");

function branded<Id extends string>(description: string): z.ZodType<Id, string> {
  return z.string().describe(description) as unknown as z.ZodType<Id, string>;
}
