// Sessions as callers see them: their state, their checkpoints, and the standard library they start with.

import { z } from "zod";
import { capabilities } from "./capabilities.ts";
import { executionError, stateAfter } from "./execution.ts";
import { sessionId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";

export const stdlibState = z
  .object({
    loaded: z.boolean().describe("Whether the session has it"),
    error: executionError
      .nullable()
      .describe("What its source raised, or why it could not be read; the session then has none of it"),
  })
  .describe("The standard library of a session");
export type StdlibState = Shape<typeof stdlibState>;

export const namespaceSummary = z.object({
  variableCount: z
    .int()
    .nullable()
    .describe("Names that do not begin with an underscore. Null: the worker did not answer in time"),
  variables: z.array(z.string()).describe("The first 1,000 names"),
  memoryBytes: z.int().nullable().describe("Memory of all its processes. Null: not known in time"),
});
export type NamespaceSummary = Shape<typeof namespaceSummary>;

export const forkOrigin = z
  .object({
    sessionId: sessionId.describe("The session that was copied, which may have ended"),
    executionCount: z.int().describe("The number of the last execution whose effects were copied. 0: none"),
  })
  .describe("What a session is a copy of");
export type ForkOrigin = Shape<typeof forkOrigin>;

const checkpointId = z.string().nullable();

/** Which state a session continues from, in the tree that rewinding makes of its executions and checkpoints. */
export const stateOrigin = z.object({
  checkpointId: checkpointId.describe(
    "The last kept checkpoint that the state continues from. Null: none, or an empty namespace since",
  ),
  head: z
    .int()
    .describe("The number of the last execution whose effects the state has. 0: none, as in an empty namespace"),
});
export type StateOrigin = Shape<typeof stateOrigin>;

export const sessionInfo = z
  .object({
    ...namespaceSummary.shape,
    id: sessionId,
    environment: z.string().describe("Where it runs"),
    tier: z.string().nullable().describe("How it is isolated, as in `A`, `container` or `seat-belt`. Null: not known"),
    capabilities: capabilities.describe("What it can do"),
    state: z.enum(["idle", "running", "closed"]).describe("Whether code runs in it now"),
    createdAt: z.iso.datetime().describe("When it was opened"),
    lastExecutedAt: z.iso.datetime().nullable().describe("When code last began to run. Null: never"),
    executionCount: z.int().describe("Executions so far"),
    waiting: z.int().describe("Executions in the queue"),
    epoch: z.int().describe("Changes whenever its state is lost or restored"),
    ...stateOrigin.shape,
    forkedFrom: forkOrigin.nullable().describe("Null: it was not opened as a fork"),
    idleTimeoutMs: z.number().nullable().describe("Idle time after which it closes. Null: never"),
    expiresAt: z.iso
      .datetime()
      .nullable()
      .describe(
        "When it closes if it stays idle. Null: never, or it is in use: code or a task runs, or a client listens",
      ),
    stdlib: stdlibState,
  })
  .meta({ id: "Session", description: "The state of a session" });
export type SessionInfo = Shape<typeof sessionInfo>;

export const interruptAnswer = z
  .object({
    interrupted: z.string().nullable().describe("The id of the execution that ran. Null: nothing ran"),
    hasEnded: z.boolean().describe("False: it has not stopped yet, and its worker is about to be killed"),
    state: stateAfter.nullable().describe("What happened to the namespace. Null: not known yet"),
  })
  .meta({ id: "Interrupted" });
export type InterruptAnswer = Shape<typeof interruptAnswer>;

export const checkpoint = z
  .object({
    id: z.string().describe("Its id in the session"),
    createdAt: z.iso.datetime().describe("When it was taken"),
    executionCount: z.int().describe("The number of the last execution whose effects it has. 0: none"),
    parentId: checkpointId.describe("The last kept checkpoint that its state continues from. Null: none"),
    isAutomatic: z.boolean().describe("Taken automatically before an execution, and dropped when there are too many"),
  })
  .meta({ id: "Checkpoint", description: "A live copy of a session to return to" });
export type Checkpoint = Shape<typeof checkpoint>;

export const stdlibFunction = z
  .object({
    name: z.string().describe("Its name"),
    signature: z.string().describe("As in `(text, limit=10)`"),
    doc: z.string().describe("The first line of its documentation"),
  })
  .describe("A function of the standard library");
export type StdlibFunction = Shape<typeof stdlibFunction>;

export const stdlibListing = z
  .object({
    functions: z.array(stdlibFunction).describe("Its functions"),
    modules: z.array(z.string()).describe("The modules that it imports"),
    other: z.array(z.string()).describe("Everything else: classes, constants"),
  })
  .meta({ id: "StandardLibrary", description: "What the standard library defines" });
export type StdlibListing = Shape<typeof stdlibListing>;
