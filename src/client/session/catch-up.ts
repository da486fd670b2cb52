// Which events of a session a listener still misses: after a lost connection, or where it was too slow.
//
// The server sends every execution that starts while a socket is open, live and in order. What is missing is replayed on request, one
// execution after the other, each after the cursor of its last event. Live events of an execution that is to be replayed are ignored, and
// executions that start during a replay are replayed after it, so the listener gets all of them in order and nothing twice.

import type { ExecutionEvent, SessionEvent } from "../../protocol/events.ts";
import type { HistoryEntry } from "../../protocol/execution.ts";

/** How far an execution was received. */
interface Position {
  /** Of the last event that had one. */
  cursor: string | undefined;
  /** What was received after it: characters of each stream, and other events. Replays repeat it. */
  stdout: number;
  stderr: number;
  others: number;
}

export interface CatchUpPorts {
  /** Requests a replay. */
  readonly follow: (executionId: string, after: string | undefined) => void;
  readonly deliver: (event: SessionEvent) => void;
}

export class CatchUp {
  readonly #ports: CatchUpPorts;
  /** Executions that have begun and not ended. */
  readonly #positions = new Map<string, Position>();
  /** What to replay; the first is under way. */
  readonly #queue: string[] = [];
  /** The server has begun to replay the first. */
  #isReplaying = false;
  /** What is missing is not known yet. */
  #isHeld = false;
  #lastCount = 0;
  /** Comes when everything before it was replayed. */
  #last: SessionEvent | undefined;

  constructor(ports: CatchUpPorts) {
    this.#ports = ports;
  }

  /** Whether an execution of this number is missing. */
  isMissing({ executionCount, executionId }: HistoryEntry): boolean {
    return executionCount > this.#lastCount && !this.#positions.has(executionId);
  }

  /** A new socket: executions are noted, and replayed after `restart`. What was requested of the last socket is requested again. */
  hold(): void {
    this.#isHeld = true;
    this.#isReplaying = false;
  }

  /** Replays what was not received to its end, then these, then what was noted since. */
  restart(executionIds: readonly string[]): void {
    const missing = [...this.#positions.keys(), ...executionIds, ...this.#queue];
    this.#queue.length = 0;
    this.#isHeld = false;
    this.replay(missing);
    if (this.#queue.length === 0) this.#next();
  }

  replay(executionIds: readonly string[]): void {
    const isIdle = this.#queue.length === 0;
    for (const id of executionIds) if (!this.#queue.includes(id)) this.#queue.push(id);
    if (isIdle && this.#queue.length > 0 && !this.#isHeld) this.#next();
  }

  onEvent(event: SessionEvent, cursor: string | undefined): void {
    if (!("executionId" in event) || event.type === "execution-queue") {
      if (event.type === "session-end" && (this.#isHeld || this.#queue.length > 0)) this.#last = event;
      else this.#ports.deliver(event);
      return;
    }
    const { executionId } = event;
    const place = this.#queue.indexOf(executionId);
    if (this.#isHeld) {
      if (place === -1) this.#queue.push(executionId);
      return;
    }
    if (place > 0 || (place === 0 && !this.#isReplaying)) return;
    if (place === -1 && this.#queue.length > 0 && !this.#positions.has(executionId)) {
      this.#queue.push(executionId);
      return;
    }
    this.#receive(event, cursor, place === 0);
  }

  /** The server replied to a request for a replay. */
  onReply(isOk: boolean): void {
    if (isOk) this.#isReplaying = true;
    else this.onReplayed();
  }

  onReplayed(): void {
    const id = this.#queue.shift();
    if (id !== undefined) this.#positions.delete(id);
    this.#isReplaying = false;
    this.#next();
  }

  #next(): void {
    const [id] = this.#queue;
    if (id !== undefined) this.#ports.follow(id, this.#positions.get(id)?.cursor);
    else if (this.#last !== undefined) this.#ports.deliver(this.#last);
  }

  #receive(event: ExecutionEvent, cursor: string | undefined, isReplayed: boolean): void {
    const { executionId } = event;
    if (event.type === "execution-start") this.#lastCount = Math.max(this.#lastCount, event.executionCount);
    const position = this.#positions.get(executionId) ?? { cursor: undefined, stdout: 0, stderr: 0, others: 0 };
    const fresh = isReplayed ? skip(event, position) : event;
    if (cursor !== undefined) {
      position.cursor = cursor;
      if (!isReplayed) position.stdout = position.stderr = position.others = 0;
    } else if (event.type === "output-delta") position[event.stream] += event.text.length;
    else position.others += 1;
    if (event.type === "execution-end") this.#positions.delete(executionId);
    else this.#positions.set(executionId, position);
    if (fresh !== undefined) this.#ports.deliver(fresh);
  }
}

/** What of a replayed event was not received before. Undefined: nothing. */
function skip(event: ExecutionEvent, position: Position): ExecutionEvent | undefined {
  if (event.type !== "output-delta") {
    if (position.others === 0) return event;
    position.others -= 1;
    return undefined;
  }
  const known = Math.min(position[event.stream], event.text.length);
  position[event.stream] -= known;
  if (known === 0) return event;
  return known === event.text.length ? undefined : { ...event, text: event.text.slice(known) };
}
