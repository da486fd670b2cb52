// The receiving side of one WebSocket: parses requests, limits how many are handled at a time, and replies to each.

import type { WebSocket } from "ws";
import type { ProblemSummary } from "../../protocol/api/problem.ts";
import {
  clientMessage,
  CLOSE,
  messageWithId,
  type ClientMessage,
  type MessageId,
  type ReplyFields,
} from "../../protocol/api/web-socket.ts";
import { parseValue } from "../net/bodies/body.ts";
import { parseStrictJSON } from "../net/bodies/strict-json.ts";
import { ProblemError, toProblem, toSummary, type Problem } from "../net/problem.ts";
import type { Outbox } from "./outbox.ts";

type Respond = (message: ClientMessage) => ReplyFields | Promise<ReplyFields>;

/** Invalid messages in a row. */
const MAX_INVALID = 10;
const MAX_PENDING = 32;
/** Messages that are handled in one iteration of the event loop. */
const MAX_PER_ITERATION = 50;

export class Receiver {
  readonly #webSocket: WebSocket;
  readonly #outbox: Outbox;
  readonly #respond: Respond;
  readonly #onUnexpected: (error: unknown) => void;
  #invalid = 0;
  #pending = 0;
  #inThisIteration = 0;

  constructor(webSocket: WebSocket, outbox: Outbox, respond: Respond, onUnexpected: (error: unknown) => void) {
    this.#webSocket = webSocket;
    this.#outbox = outbox;
    this.#respond = respond;
    this.#onUnexpected = onUnexpected;
    webSocket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    webSocket.on("ping", (content) => {
      this.#yield();
      outbox.pong(content);
    });
    webSocket.on("pong", () => this.#yield());
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#outbox.markAlive();
    this.#yield();
    if (isBinary) {
      this.#webSocket.close(CLOSE.unsupported, "messages are JSON in text frames");
      return;
    }
    const parsed = parseMessage(data.toString("utf8"));
    if ("problem" in parsed) {
      this.#reply(parsed.id, { ok: false, problem: toSummary(parsed.problem) });
      this.#invalid += 1;
      if (this.#invalid >= MAX_INVALID) this.#webSocket.close(CLOSE.policy, "too many messages that make no sense");
      return;
    }
    this.#invalid = 0;
    this.#outbox.batch(() => this.#handle(parsed.message));
  }

  /** Megabytes of small messages may arrive at once, and would block the event loop. */
  #yield(): void {
    this.#inThisIteration += 1;
    if (this.#inThisIteration === 1) {
      setImmediate(() => {
        this.#inThisIteration = 0;
        if (this.#webSocket.isPaused) this.#webSocket.resume();
      });
    }
    if (this.#inThisIteration === MAX_PER_ITERATION) this.#webSocket.pause();
  }

  #handle(message: ClientMessage): void {
    try {
      if (this.#pending >= MAX_PENDING) throw new ProblemError(TOO_MANY_PENDING);
      const reply = this.#respond(message);
      if (reply instanceof Promise) void this.#await(message.id, reply);
      else this.#reply(message.id, { ok: true, ...reply });
    } catch (error) {
      this.#refuse(message.id, error);
    }
  }

  async #await(id: MessageId, reply: Promise<ReplyFields>): Promise<void> {
    this.#pending += 1;
    try {
      this.#reply(id, { ok: true, ...(await reply) });
    } catch (error) {
      this.#refuse(id, error);
    } finally {
      this.#pending -= 1;
    }
  }

  #refuse(id: MessageId, error: unknown): void {
    const problem = toProblem(error);
    if (problem.status === 500) this.#onUnexpected(error);
    this.#reply(id, { ok: false, problem: toSummary(problem) });
  }

  #reply(
    id: MessageId,
    outcome: ({ readonly ok: true } & ReplyFields) | { readonly ok: false; readonly problem: ProblemSummary },
  ): void {
    this.#outbox.sendMessage({ type: "reply", id: id ?? null, ...outcome });
  }
}

type ParsedMessage = { readonly message: ClientMessage } | { readonly id: MessageId; readonly problem: Problem };

function parseMessage(text: string): ParsedMessage {
  let value: unknown;
  try {
    value = parseStrictJSON(text, "message");
  } catch (error) {
    const detail = error instanceof SyntaxError ? error.message : "The message is not JSON in UTF-8";
    return { id: undefined, problem: { status: 422, code: "INVALID_MESSAGE", detail } };
  }
  const parsed = parseValue(value, clientMessage, "message");
  if ("value" in parsed) return { message: parsed.value };
  return { id: messageWithId.safeParse(value).data?.id, problem: parsed.problem };
}

const TOO_MANY_PENDING: Problem = {
  status: 429,
  code: "TOO_MANY_ASKED",
  detail: `${MAX_PENDING} requests of this socket wait for their answer`,
};
