// The watchers of one session. Each event is serialized once for all of them. While there are any, the session does not expire.

import type { SessionEvent } from "../../protocol/events.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { CLOSE } from "../../protocol/api/web-socket.ts";
import type { Watcher } from "./watcher.ts";

const SHUTDOWN_REASON = "the server is about to end";

export class Watchers {
  readonly session: Session;
  readonly #watchers = new Set<Watcher>();
  readonly #subscription: Disposable;
  readonly #hold: Disposable;
  readonly #onEmpty: () => void;
  #running: Execution | undefined;
  /** After the last event of the running execution. */
  #cursor: string | undefined;
  #isDraining = false;

  /** `onEmpty`: the last watcher has gone. */
  constructor(session: Session, onEmpty: () => void) {
    this.session = session;
    this.#onEmpty = onEmpty;
    this.#running = session.running;
    this.#cursor = this.#running?.cursor;
    this.#subscription = session.subscribe((event) => this.#publish(event));
    this.#hold = session.hold();
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  delete(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#subscription[Symbol.dispose]();
    this.#hold[Symbol.dispose]();
    this.#onEmpty();
  }

  /** Idle watchers are closed at once, the others when the running execution has ended. */
  drain(): void {
    this.#isDraining = true;
    for (const watcher of this.#watchers) watcher.send({ type: "server-end", why: SHUTDOWN_REASON });
    this.closeIdle();
  }

  /** During shutdown: closes watchers that wait for nothing. */
  closeIdle(): void {
    if (!this.#isDraining || this.session.state === "running") return;
    for (const watcher of this.#watchers) if (!watcher.isReplaying) watcher.close(CLOSE.serverEnd, SHUTDOWN_REASON);
  }

  #publish(event: SessionEvent): void {
    if (event.type === "execution-start") {
      this.#running = this.session.running;
      this.#cursor = undefined;
    }
    const execution = "executionId" in event && event.executionId === this.#running?.id ? this.#running : undefined;
    const before = this.#cursor;
    const cursor = execution?.cursor;
    if (execution !== undefined) this.#cursor = cursor;
    let frame: Buffer | undefined;
    const watched = { event, execution, before, frame: () => (frame ??= toFrame(event, cursor)) };
    for (const watcher of this.#watchers) watcher.onEvent(watched);
    if (event.type === "execution-end") {
      if (execution !== undefined) this.#running = undefined;
      // The next queued execution starts right after this.
      if (this.#isDraining) setImmediate(() => this.closeIdle());
    }
    if (event.type === "session-end") {
      for (const watcher of this.#watchers) watcher.close(CLOSE.sessionEnd, "the session has ended");
    }
  }
}

function toFrame(event: SessionEvent, cursor: string | undefined): Buffer {
  return Buffer.from(JSON.stringify(cursor === undefined ? event : { ...event, cursor }));
}
