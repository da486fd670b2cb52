// What is said on a WebSocket, in both directions: one JSON object per text frame, known by its `type`.
//
// A watcher hears every execution that begins while it is there, whole and in order, as fast as it reads. One that ran already when it came
// is told when it asks for it: `follow`, from the beginning or after a cursor. So nothing is heard twice, and to go on after a lost
// connection a client needs to remember one thing, the `cursor` of the last event that it has of an execution.

import { z } from "zod";
import type { SessionEvent } from "../../protocol/events.ts";
import type { VariableList } from "../../protocol/variables.ts";
import type { WireProblem } from "../net/problem.ts";
import { executeBody, stdinBody } from "../http/schemas/executions.ts";
import type { interruptAnswer } from "../http/schemas/sessions.ts";

/** Of these messages. What is added does not change it. */
export const PROTOCOL = 1;

/** The client's own, given back in the reply. */
const id = z.union([z.string().max(100), z.number()]).optional();
const executionId = z.string().max(200);

const execute = z.strictObject({
  ...executeBody.omit({ onDisconnect: true }).shape,
  type: z.literal("execute"),
  id,
  /** As `Idempotency-Key`. */
  key: z.string().optional(),
  /** Somebody is there to ask. */
  input: z.enum(["none", "ask"]).default("ask"),
});
const interrupt = z.strictObject({ type: z.literal("interrupt"), id });
const cancel = z.strictObject({ type: z.literal("cancel"), id, executionId });
const stdin = z.strictObject({ ...stdinBody.shape, type: z.literal("stdin"), id, executionId });
const follow = z.strictObject({ type: z.literal("follow"), id, executionId, after: z.string().max(100).optional() });
const ping = z.strictObject({ type: z.literal("ping"), id });

export const clientMessage = z.discriminatedUnion("type", [execute, interrupt, cancel, stdin, follow, ping]);
export type ClientMessage = z.output<typeof clientMessage>;

/** The client's id of a message that may be wrong otherwise. */
export const messageWithId = z.looseObject({ id: id.catch(undefined) });
export type MessageId = z.output<typeof id>;

/** Always the first. */
export interface Hello {
  readonly type: "hello";
  readonly protocol: typeof PROTOCOL;
  readonly sessionId: string;
  readonly state: "idle" | "running" | "closed";
  readonly epoch: number;
  /** The execution that runs already: it is heard when it is followed. */
  readonly running: string | null;
}

/** As it happens, or read from the story: for a watcher that follows, or that did not keep up. */
export type ToldEvent = SessionEvent & {
  /** Right after it, for `follow`. Absent: only what is part of an execution has one, and not when the streams take turns too often. */
  readonly cursor?: string;
};

/** What a request came to. Each has one, in no certain order. */
export type Reply = { readonly type: "reply"; readonly id: MessageId | null } & (
  | ({ readonly ok: true } & ReplyFields)
  | { readonly ok: false; readonly problem: WireProblem }
);

export interface ReplyFields extends Partial<z.output<typeof interruptAnswer>> {
  /** To `execute`, `cancel`, `stdin` and `follow`: which one. */
  readonly executionId?: string;
  /** To `execute`: it began before, under the same key. Follow it. */
  readonly replayed?: true;
}

/**
 * The reader was so slow that events were left out: those that are part of no execution, or of executions when more than 100 wait to be read,
 * or when the two streams of one took turns too often for its cursor to be known.
 */
export interface Lagged {
  readonly type: "lagged";
  /** Events. */
  readonly omitted: number;
  /** Of which executions: what is there of them is incomplete. They can be followed from the beginning. */
  readonly executions: readonly string[];
  /** How many executions more. */
  readonly moreExecutions: number;
}

/** All of an execution that was asked for was told. */
export interface FollowEnd {
  readonly type: "follow-end";
  readonly executionId: string;
}

/** After an `execute` that asked for them, to its sender. */
export type VariablesAfter = { readonly type: "variables"; readonly executionId: string } & VariableList;

/** The session could not run it: there is no other end. To whoever asked for it. */
export interface ExecutionFailed {
  readonly type: "execution-failed";
  readonly executionId: string;
  readonly problem: WireProblem;
}

/** What runs may end within a while, nothing begins; then the socket is closed with 1001. */
export interface ServerEnd {
  readonly type: "server-end";
  readonly why: string;
}

export type ServerMessage =
  | Hello
  | ToldEvent
  | Reply
  | Lagged
  | FollowEnd
  | VariablesAfter
  | ExecutionFailed
  | ServerEnd;

/** With which a socket is closed. Those for broken frames, 1002, 1007 and 1009, come by themselves. */
export const CLOSE = {
  serverEnd: 1001,
  unsupported: 1003,
  policy: 1008,
  tooMuchHeld: 1013,
  sessionEnd: 4404,
} as const;
