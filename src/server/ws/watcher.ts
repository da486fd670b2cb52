// One WebSocket that watches a session: its events, the executions that it follows, and its requests.
//
// A watcher gets the events of an execution live, from the start, as long as it keeps up. When it falls behind, the rest is replayed from
// the execution's log with backpressure, and so is every execution that starts meanwhile, one after the other. Executions that were
// running before it connected are replayed on request. So a slow reader gets everything in order, later, and costs no more memory.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { SessionEvent } from "../../protocol/events.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { ProblemError, type Problem } from "../net/problem.ts";
import {
  CLOSE,
  PROTOCOL,
  type ClientMessage,
  type ReplyFields,
  type ServerMessage,
} from "../../protocol/api/web-socket.ts";
import { Inbox } from "./inbox.ts";
import type { MemoryBudget } from "../net/memory-budget.ts";
import { Outbox } from "./outbox.ts";
import { Receiver } from "./receiver.ts";

const MAX_FOLLOWED = 8;
/** Executions that wait to be replayed. */
const MAX_REPLAYS = 100;
const MAX_LAGGED_EXECUTIONS = 100;
/** How long a dismissed client may take to read why. */
const DISMISS_MS = 1000;

/** An event for all watchers of a session. */
export interface WatchedEvent {
  readonly event: SessionEvent;
  /** Undefined: the event belongs to no execution, or to one that never started. */
  readonly execution: Execution | undefined;
  /** The cursor before it. Undefined: at the beginning, or there is no cursor for it. */
  readonly before: string | undefined;
  /** Serialized once for all watchers. */
  readonly frame: () => Buffer;
}

export interface WatcherPorts {
  readonly session: Session;
  readonly memory: MemoryBudget;
  handle(message: ClientMessage, watcher: Watcher): ReplyFields | Promise<ReplyFields>;
  readonly onUnexpected: (error: unknown) => void;
  /** A replay has ended. */
  onReplayed(): void;
  /** It is closed to free memory. */
  onDismiss(): void;
}

/** Skipped events. */
interface Lag {
  omitted: number;
  readonly executions: Set<string>;
  moreExecutions: number;
}

interface Replay {
  readonly execution: Execution;
  readonly after: string | undefined;
}

export class Watcher {
  readonly #webSocket: WebSocket;
  readonly #outbox: Outbox;
  readonly #ports: WatcherPorts;
  /** The execution whose events are sent live. */
  #live: string | undefined;
  /** Executions that are replayed, or will be. */
  #replayed: Set<string> | undefined;
  #follows = 0;
  #replays: Replay[] | undefined;
  #closing: AbortController | undefined;
  #lag: Lag | undefined;

  constructor(webSocket: WebSocket, stream: Duplex, ports: WatcherPorts) {
    this.#webSocket = webSocket;
    this.#ports = ports;
    const memory = ports.memory.reserve({ dismiss: () => this.#dismiss(stream), cut: () => this.terminate() });
    this.#outbox = new Outbox(webSocket, stream, memory, () => this.#sendLag());
    void new Inbox(webSocket, stream, memory);
    const { session, onUnexpected } = ports;
    void new Receiver(webSocket, this.#outbox, (message) => ports.handle(message, this), onUnexpected);
    webSocket.on("error", () => {}); // the library closes it, with the right code
    webSocket.once("close", () => {
      memory.close();
      this.#closing?.abort();
    });
    const { id: sessionId, state, epoch, running } = session;
    this.#outbox.sendMessage({
      type: "hello",
      protocol: PROTOCOL,
      sessionId,
      state,
      epoch,
      running: running?.id ?? null,
    });
  }

  get isReplaying(): boolean {
    return (this.#replayed?.size ?? 0) > 0;
  }

  /** For messages that must arrive. */
  send(message: ServerMessage): void {
    this.#outbox.sendMessage(message);
  }

  heartbeat(): void {
    this.#outbox.heartbeat();
  }

  close(code: number, why: string): void {
    this.#webSocket.close(code, why);
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  /** Its data is read and discarded until it has gone: otherwise it would not read the close frame. */
  #dismiss(stream: Duplex): void {
    this.close(CLOSE.tooMuchHeld, "the server holds too much for all its sockets: try again later");
    stream.removeAllListeners("data").resume();
    setTimeout(() => this.terminate(), DISMISS_MS).unref();
    this.#ports.onDismiss();
  }

  onEvent({ event, execution, before, frame }: WatchedEvent): void {
    if (execution === undefined) {
      const { type } = event;
      const isPart = ("executionId" in event && type !== "execution-queue") || type === "session-end"; // rare, and clients wait for these
      if (!isPart && this.#outbox.isFull) this.#skip();
      else this.#outbox.send(frame());
      return;
    }
    const { id } = execution;
    if (this.#replayed?.has(id) === true) return;
    const isStart = event.type === "execution-start";
    if (!isStart && id !== this.#live) {
      if (this.#lag?.executions.has(id) === true) this.#lag.omitted += 1;
    } else if (this.#outbox.isFull || (isStart && this.#replays !== undefined)) {
      this.#live = undefined;
      if (isStart || before !== undefined) this.#fallBehind({ execution, after: before });
      else this.#skip(id);
    } else {
      this.#live = id;
      this.#outbox.send(frame());
    }
  }

  /** Replays from a cursor to the end. Throws a RangeError for an invalid cursor, and a ProblemError. */
  follow(execution: Execution, after: string | undefined): void {
    const { id } = execution;
    if (this.#replayed?.has(id) === true) throw new ProblemError({ ...FOLLOWED, detail: `It follows '${id}' already` });
    if (this.#follows >= MAX_FOLLOWED) throw new ProblemError(TOO_MANY_FOLLOWED);
    const events = this.#open({ execution, after });
    (this.#replayed ??= new Set()).add(id);
    this.#follows += 1;
    if (this.#live === id) this.#live = undefined;
    this.#run(async () => {
      await this.#replay(id, events);
      this.#follows -= 1;
      this.send({ type: "follow-end", executionId: id });
    });
  }

  #fallBehind(replay: Replay): void {
    if ((this.#replays?.length ?? 0) >= MAX_REPLAYS) {
      this.#skip(replay.execution.id);
      return;
    }
    (this.#replayed ??= new Set()).add(replay.execution.id);
    if (this.#replays !== undefined) {
      this.#replays.push(replay);
      return;
    }
    const replays = (this.#replays = [replay]);
    this.#run(async () => {
      for (let next = replays[0]; next !== undefined; next = replays[0]) {
        await this.#replay(next.execution.id, this.#open(next));
        replays.shift();
      }
      this.#replays = undefined;
    });
  }

  #open({ execution, after }: Replay): ReturnType<Execution["follow"]> {
    const { signal } = (this.#closing ??= new AbortController());
    return execution.follow({ ...(after !== undefined && { after }), signal });
  }

  async #replay(id: string, events: ReturnType<Execution["follow"]>): Promise<void> {
    for await (const { event, cursor } of events) {
      if (!(await this.#outbox.sendWhenReady(Buffer.from(JSON.stringify({ ...event, cursor }))))) return;
    }
    this.#replayed?.delete(id);
  }

  #run(replay: () => Promise<void>): void {
    replay().then(
      () => this.#ports.onReplayed(),
      (error: unknown) => {
        this.#ports.onUnexpected(error);
        this.terminate();
      },
    );
  }

  #skip(id?: string): void {
    const lag = (this.#lag ??= { omitted: 0, executions: new Set(), moreExecutions: 0 });
    lag.omitted += 1;
    if (id === undefined || lag.executions.has(id)) return;
    if (lag.executions.size < MAX_LAGGED_EXECUTIONS) lag.executions.add(id);
    else lag.moreExecutions += 1;
  }

  #sendLag(): void {
    if (this.#lag === undefined) return;
    const { omitted, moreExecutions, executions } = this.#lag;
    this.#lag = undefined;
    this.send({ type: "lagged", omitted, executions: [...executions], moreExecutions });
  }
}

const FOLLOWED = { status: 409, code: "FOLLOWED" };
const TOO_MANY_FOLLOWED: Problem = {
  status: 429,
  code: "TOO_MANY_FOLLOWED",
  detail: `A socket follows ${MAX_FOLLOWED} executions at once`,
};
