// Schemas of identifiers. Apart from the types, which code uses that should not load zod.

import { z } from "zod";
import { SESSION_ID, type ExecutionId, type RunId, type SessionId, type TaskId } from "./ids.ts";

export const sessionId = branded<SessionId>();
export const executionId = branded<ExecutionId>();
export const runId = branded<RunId>();
export const taskId = branded<TaskId>();

/** An id that a caller chooses. */
export const newSessionId = z.string().regex(SESSION_ID, "must be letters, digits, '.', '_', '-', at most 64");

function branded<Id extends string>(): z.ZodType<Id, string> {
  return z.string() as unknown as z.ZodType<Id, string>;
}
