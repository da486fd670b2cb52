// Messages of a WebSocket in both directions: one JSON object per text frame, distinguished by its `type`.
//
// A client receives every execution that starts while it is connected, complete and in order. An execution that was already running
// is sent on request (`follow`), from the start or after the `cursor` of an event, so no event is sent twice.

import { z } from "zod";
import { sessionEvent } from "../events.ts";
import { interruptAnswer, sessionInfo } from "../sessions.ts";
import type { Shape } from "../shape.ts";
import { variableList } from "../variables.ts";
import { executeBody, executionFailed, stdinBody } from "./executions.ts";
import { problemSummary } from "./problem.ts";

/** The version of these messages. Additions do not change it. */
export const PROTOCOL = 1;

/** Chosen by the client and returned in the reply. */
const id = z.union([z.string().max(100), z.number()]).optional();
const executionId = z.string().max(200);

const execute = z.strictObject({
  ...executeBody.omit({ onDisconnect: true, id: true }).shape,
  type: z.literal("execute"),
  id,
  key: z.string().optional().describe("As the header `Idempotency-Key`"),
  input: z.enum(["none", "ask"]).default("ask"),
});
const interrupt = z.strictObject({ type: z.literal("interrupt"), id });
const cancel = z.strictObject({ type: z.literal("cancel"), id, executionId });
const stdin = z.strictObject({ ...stdinBody.shape, type: z.literal("stdin"), id, executionId });
const follow = z.strictObject({ type: z.literal("follow"), id, executionId, after: z.string().max(100).optional() });
const ping = z.strictObject({ type: z.literal("ping"), id });

export const clientMessage = z.discriminatedUnion("type", [execute, interrupt, cancel, stdin, follow, ping]);
export type ClientMessage = Shape<typeof clientMessage>;

/** The client's id of a message that may otherwise be invalid. */
export const messageWithId = z.looseObject({ id: id.catch(undefined) });
export type MessageId = z.output<typeof id>;

const hello = z
  .object({
    type: z.literal("hello"),
    protocol: z.literal(PROTOCOL),
    sessionId: z.string(),
    state: sessionInfo.shape.state,
    epoch: z.int(),
    running: z.string().nullable().describe("The execution that already runs; `follow` it to receive it"),
  })
  .describe("Always the first message");

const watchedEvent = sessionEvent.and(
  z.object({
    cursor: z
      .string()
      .exactOptional()
      .describe(
        "The cursor after this event, for `follow`. Absent: not part of an execution, or the streams alternate too often",
      ),
  }),
);

const { interrupted, hasEnded, state } = interruptAnswer.shape;
export const replyFields = z.object({
  executionId: executionId.exactOptional().describe("The execution of `execute`, `cancel`, `stdin` and `follow`"),
  replayed: z.literal(true).exactOptional().describe("The same key started it before; `follow` it"),
  interrupted: interrupted.exactOptional(),
  hasEnded: hasEnded.exactOptional(),
  state: state.exactOptional(),
});
export type ReplyFields = Shape<typeof replyFields>;

const replyBase = { type: z.literal("reply"), id: id.nullable() };
const reply = z
  .discriminatedUnion("ok", [
    z.object({ ...replyFields.shape, ...replyBase, ok: z.literal(true) }),
    z.object({ ...replyBase, ok: z.literal(false), problem: problemSummary }),
  ])
  .describe("Every request gets one reply. Replies come in no particular order");

const lagged = z
  .object({
    type: z.literal("lagged"),
    omitted: z.int().describe("The number of events"),
    executions: z.array(z.string()).describe("Executions with missing events; `follow` them from the start"),
    moreExecutions: z.int().describe("The number of such executions that are not listed"),
  })
  .describe(
    "Events were dropped because the client reads too slowly: events outside executions, or of executions when more than 100 are " +
      "unread or when one has no cursor because its streams alternate too often",
  );

const followEnd = z
  .object({ type: z.literal("follow-end"), executionId })
  .describe("The end of what `follow` requested");

const variablesAfter = z
  .object({ ...variableList.shape, type: z.literal("variables"), executionId })
  .describe("Sent to the client whose `execute` requested variables, after the execution");

const serverEnd = z
  .object({ type: z.literal("server-end"), why: z.string() })
  .describe(
    "The server shuts down: executions get a grace period, new ones are refused, then the socket closes with 1001",
  );

export const serverMessage = z.union([
  hello,
  watchedEvent,
  reply,
  lagged,
  followEnd,
  variablesAfter,
  executionFailed,
  serverEnd,
]);
export type ServerMessage = Shape<typeof serverMessage>;

/** Close codes. The WebSocket library itself sends 1002, 1007 and 1009 for broken frames. */
export const CLOSE = {
  serverEnd: 1001,
  unsupported: 1003,
  policy: 1008,
  tooMuchHeld: 1013,
  sessionEnd: 4404,
} as const;
