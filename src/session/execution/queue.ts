// The order in which a session does things: executions and operations, one at a time, first come first served.

import { Operation } from "./operation.ts";
import { Turn } from "./queued-execution.ts";

/** The session, as its turns see it. */
export interface TurnsOwner {
  /** Settles when there is a worker again, and rejects when there will be none. Absent while there is one. */
  recovery(): Promise<unknown> | undefined;
  /** Why nothing begins any more; absent while the session is open. */
  closed(): Error | undefined;
  /** Runs an execution, and calls `end` when it is over. */
  run(turn: Turn): void;
  /** An execution that never starts: cancelled, or because of an error. */
  drop(turn: Turn, error?: Error): void;
}

export class Turns {
  readonly #owner: TurnsOwner;
  readonly #waiting: (Turn | Operation)[] = [];
  #running: Turn | Operation | undefined;
  /** When something last ended. */
  #lastUsedAt = Date.now();

  constructor(owner: TurnsOwner) {
    this.#owner = owner;
  }

  get running(): Turn | Operation | undefined {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Now, while something runs. */
  get lastUsedAt(): number {
    return this.#running === undefined ? this.#lastUsedAt : Date.now();
  }

  /** Whether one runs or waits. */
  get hasExecution(): boolean {
    return this.#running instanceof Turn || this.#waiting.some((turn) => turn instanceof Turn);
  }

  execute(turn: Turn): void {
    this.#waiting.push(turn);
    if (this.#running === undefined) this.#next();
  }

  /** When the signal is aborted before its turn has come, it never runs. */
  operate<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const operation = new Operation(work, signal);
    this.#waiting.push(operation as Operation);
    this.#next();
    return operation.done;
  }

  /** The running execution is over: before anybody is told, so that whoever is told may ask for the next one. */
  end(): void {
    this.#running = undefined;
    this.#lastUsedAt = Date.now();
  }

  /** Lets the next one begin. */
  proceed(): void {
    this.#next();
  }

  /** Takes an execution out of the queue. False: it does not wait. */
  remove(turn: Turn): boolean {
    const index = this.#waiting.indexOf(turn);
    if (index === -1) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** Nothing that waits will ever begin. */
  dismissAll(error: Error): void {
    for (const turn of this.#waiting.splice(0)) {
      if (turn instanceof Turn) this.#owner.drop(turn);
      else turn.dismiss(error);
    }
  }

  #next(): void {
    if (this.#running !== undefined || this.#owner.closed() !== undefined) return;
    const turn = this.#waiting.shift();
    if (turn === undefined) return;
    this.#running = turn;
    const recovery = this.#owner.recovery();
    if (recovery === undefined) this.#begin(turn);
    else
      void recovery.then(
        () => this.#begin(turn),
        (error: Error) => this.#giveUp(turn, error),
      );
  }

  #begin(turn: Turn | Operation): void {
    if (turn instanceof Turn) this.#owner.run(turn);
    else void this.#operate(turn);
  }

  async #operate(operation: Operation): Promise<void> {
    const error = this.#owner.closed();
    if (error === undefined) await operation.run();
    else operation.dismiss(error);
    this.end();
    this.#next();
  }

  #giveUp(turn: Turn | Operation, error: Error): void {
    this.end();
    if (turn instanceof Turn) this.#owner.drop(turn, error);
    else turn.dismiss(error);
    this.#next();
  }
}
