// One WebSocket that watches a session: what it hears, what it follows, and what it asks.
//
// An execution is heard live from its beginning as long as the reader keeps up. When it does not, the rest is read to it from the story
// at its own pace, and so is every execution that begins meanwhile, one after the other; an execution that ran already when the watcher
// came is read to it when it asks. So a slow reader hears everything in order, later, and costs no more memory than another.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { SessionEvent } from "../../protocol/events.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { parseValue } from "../net/bodies/body.ts";
import { ProblemError, toProblem, toWire, type Problem, type WireProblem } from "../net/problem.ts";
import { parseStrictJSON } from "../net/bodies/strict-json.ts";
import {
  clientMessage,
  CLOSE,
  messageWithId,
  PROTOCOL,
  type ClientMessage,
  type MessageId,
  type ReplyFields,
  type ServerMessage,
} from "../../protocol/api/web-socket.ts";
import { Inbox } from "./inbox.ts";
import type { MessageRoom } from "./memory-budget.ts";
import { Outbox } from "./outbox.ts";

/** In a row. */
const MAX_MISTAKES = 10;
const MAX_ASKED = 32;
/** That are answered before it is everybody else's turn. */
const MAX_IN_A_TURN = 50;
const MAX_FOLLOWED = 8;
/** That wait to be read. */
const MAX_BEHIND = 100;
const MAX_LAGGED_EXECUTIONS = 100;
/** How long one that has to go may take to hear it. */
const DISMISS_MS = 1000;

/** An event on its way to all watchers of a session. */
export interface Heard {
  readonly event: SessionEvent;
  /** Of which it is a part. Undefined: of none, or it is all that there is to tell of one that never began. */
  readonly execution: Execution | undefined;
  /** Where the execution was before it. Undefined: at its beginning, or there is no such place. */
  readonly before: string | undefined;
  /** The same for all. */
  readonly frame: () => Buffer;
}

export interface WatcherPorts {
  readonly session: Session;
  readonly room: MessageRoom;
  answer(message: ClientMessage, watcher: Watcher): ReplyFields | Promise<ReplyFields>;
  onUnexpected(error: unknown): void;
  /** It has heard the last of something that was read to it. */
  onRead(): void;
  /** It has to go, since all of them together hold too much. */
  onDismiss(): void;
}

/** Events that were left out. */
interface Lag {
  omitted: number;
  readonly executions: Set<string>;
  moreExecutions: number;
}

/** What is to be read to a watcher that did not keep up. */
interface Behind {
  readonly execution: Execution;
  readonly after: string | undefined;
}

export class Watcher {
  readonly #webSocket: WebSocket;
  readonly #outbox: Outbox;
  readonly #ports: WatcherPorts;
  /** The execution that is heard live. */
  #live: string | undefined;
  /** Executions that are read to it, or will be. */
  #read: Set<string> | undefined;
  #follows = 0;
  #behind: Behind[] | undefined;
  #closing: AbortController | undefined;
  #lag: Lag | undefined;
  #mistakes = 0;
  #asked = 0;
  #inThisTurn = 0;

  constructor(webSocket: WebSocket, stream: Duplex, ports: WatcherPorts) {
    this.#webSocket = webSocket;
    this.#ports = ports;
    const share = ports.room.share({ dismiss: () => this.#dismiss(stream), cut: () => this.terminate() });
    this.#outbox = new Outbox(webSocket, stream, share, () => this.#tellLag());
    void new Inbox(webSocket, stream, share);
    webSocket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    webSocket.on("ping", (content) => {
      this.#takeTurns();
      this.#outbox.pong(content);
    });
    webSocket.on("pong", () => this.#takeTurns());
    webSocket.once("close", () => share.close());
    webSocket.on("error", () => {}); // the library closes it, with the right code
    webSocket.once("close", () => this.#closing?.abort());
    const { session } = ports;
    const { id: sessionId, state, epoch, running } = session;
    this.#outbox.tell({ type: "hello", protocol: PROTOCOL, sessionId, state, epoch, running: running?.id ?? null });
  }

  /** There is something to read to it yet. */
  get isReading(): boolean {
    return (this.#read?.size ?? 0) > 0;
  }

  /** What must be heard. */
  tell(message: ServerMessage): void {
    this.#outbox.tell(message);
  }

  beat(): void {
    this.#outbox.beat();
  }

  close(code: number, why: string): void {
    this.#webSocket.close(code, why);
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  /** What it sends is read and forgotten until it has gone: it would not hear why otherwise. */
  #dismiss(stream: Duplex): void {
    this.close(CLOSE.tooMuchHeld, "the server holds too much for all its sockets: try again later");
    stream.removeAllListeners("data").resume();
    setTimeout(() => this.terminate(), DISMISS_MS).unref();
    this.#ports.onDismiss();
  }

  hear({ event, execution, before, frame }: Heard): void {
    if (execution === undefined) {
      const isPart = "executionId" in event || event.type === "session-end"; // rare, and somebody waits for it
      if (!isPart && this.#outbox.isFull) this.#leaveOut();
      else this.#outbox.send(frame());
      return;
    }
    const { id } = execution;
    if (this.#read?.has(id) === true) return;
    const isStart = event.type === "execution-start";
    if (!isStart && id !== this.#live) {
      if (this.#lag?.executions.has(id) === true) this.#lag.omitted += 1;
    } else if (this.#outbox.isFull || (isStart && this.#behind !== undefined)) {
      this.#live = undefined;
      if (isStart || before !== undefined) this.#fallBehind({ execution, after: before });
      else this.#leaveOut(id);
    } else {
      this.#live = id;
      this.#outbox.send(frame());
    }
  }

  /** From the place to its end, at the reader's pace. Throws a RangeError for what is no place, and a ProblemError. */
  follow(execution: Execution, after: string | undefined): void {
    const { id } = execution;
    if (this.#read?.has(id) === true) throw new ProblemError({ ...FOLLOWED, detail: `It follows '${id}' already` });
    if (this.#follows >= MAX_FOLLOWED) throw new ProblemError(TOO_MANY_FOLLOWED);
    const story = this.#open({ execution, after });
    (this.#read ??= new Set()).add(id);
    this.#follows += 1;
    if (this.#live === id) this.#live = undefined;
    this.#run(async () => {
      await this.#tellStory(id, story);
      this.#follows -= 1;
      this.tell({ type: "follow-end", executionId: id });
    });
  }

  #fallBehind(one: Behind): void {
    if ((this.#behind?.length ?? 0) >= MAX_BEHIND) {
      this.#leaveOut(one.execution.id);
      return;
    }
    (this.#read ??= new Set()).add(one.execution.id);
    if (this.#behind !== undefined) {
      this.#behind.push(one);
      return;
    }
    const behind = (this.#behind = [one]);
    this.#run(async () => {
      for (let next = behind[0]; next !== undefined; next = behind[0]) {
        await this.#tellStory(next.execution.id, this.#open(next));
        behind.shift();
      }
      this.#behind = undefined;
    });
  }

  #open({ execution, after }: Behind): ReturnType<Execution["follow"]> {
    const { signal } = (this.#closing ??= new AbortController());
    return execution.follow({ ...(after !== undefined && { after }), signal });
  }

  async #tellStory(id: string, story: ReturnType<Execution["follow"]>): Promise<void> {
    for await (const { event, place } of story) {
      if (!(await this.#outbox.sendPaced(Buffer.from(JSON.stringify({ ...event, place }))))) return;
    }
    this.#read?.delete(id);
  }

  #run(reading: () => Promise<void>): void {
    reading().then(
      () => this.#ports.onRead(),
      (error: unknown) => {
        this.#ports.onUnexpected(error);
        this.terminate();
      },
    );
  }

  #leaveOut(id?: string): void {
    const lag = (this.#lag ??= { omitted: 0, executions: new Set(), moreExecutions: 0 });
    lag.omitted += 1;
    if (id === undefined || lag.executions.has(id)) return;
    if (lag.executions.size < MAX_LAGGED_EXECUTIONS) lag.executions.add(id);
    else lag.moreExecutions += 1;
  }

  #tellLag(): void {
    if (this.#lag === undefined) return;
    const { omitted, moreExecutions, executions } = this.#lag;
    this.#lag = undefined;
    this.tell({ type: "lagged", omitted, executions: [...executions], moreExecutions });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#outbox.hear();
    this.#takeTurns();
    if (isBinary) {
      this.close(CLOSE.unsupported, "messages are JSON in text frames");
      return;
    }
    const parsed = parseMessage(data.toString("utf8"));
    if ("problem" in parsed) {
      this.#reply(parsed.id, { ok: false, problem: toWire(parsed.problem) });
      this.#mistakes += 1;
      if (this.#mistakes >= MAX_MISTAKES) this.close(CLOSE.policy, "too many messages that make no sense");
      return;
    }
    this.#mistakes = 0;
    this.#outbox.together(() => this.#ask(parsed.message));
  }

  /** Megabytes of small messages may be there at once, and would be read before anything else. */
  #takeTurns(): void {
    this.#inThisTurn += 1;
    if (this.#inThisTurn === 1) {
      setImmediate(() => {
        this.#inThisTurn = 0;
        if (this.#webSocket.isPaused) this.#webSocket.resume();
      });
    }
    if (this.#inThisTurn === MAX_IN_A_TURN) this.#webSocket.pause();
  }

  #ask(message: ClientMessage): void {
    try {
      if (this.#asked >= MAX_ASKED) throw new ProblemError(TOO_MANY_ASKED);
      const answered = this.#ports.answer(message, this);
      if (answered instanceof Promise) void this.#await(message.id, answered);
      else this.#reply(message.id, { ok: true, ...answered });
    } catch (error) {
      this.#refuse(message.id, error);
    }
  }

  async #await(id: MessageId, answered: Promise<ReplyFields>): Promise<void> {
    this.#asked += 1;
    try {
      this.#reply(id, { ok: true, ...(await answered) });
    } catch (error) {
      this.#refuse(id, error);
    } finally {
      this.#asked -= 1;
    }
  }

  #refuse(id: MessageId, error: unknown): void {
    const problem = toProblem(error);
    if (problem.status === 500) this.#ports.onUnexpected(error);
    this.#reply(id, { ok: false, problem: toWire(problem) });
  }

  #reply(
    id: MessageId,
    outcome: ({ readonly ok: true } & ReplyFields) | { readonly ok: false; readonly problem: WireProblem },
  ): void {
    this.#outbox.tell({ type: "reply", id: id ?? null, ...outcome });
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

const FOLLOWED = { status: 409, code: "FOLLOWED" };
const TOO_MANY_FOLLOWED: Problem = {
  status: 429,
  code: "TOO_MANY_FOLLOWED",
  detail: `A socket follows ${MAX_FOLLOWED} executions at once`,
};
const TOO_MANY_ASKED: Problem = {
  status: 429,
  code: "TOO_MANY_ASKED",
  detail: `${MAX_ASKED} requests of this socket wait for their answer`,
};
