// Those who watch one session: each event is put into words once for all of them. As long as there are any it does not end for idleness.

import type { SessionEvent } from "../../protocol/events.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { CLOSE } from "../../protocol/api/web-socket.ts";
import type { Watcher } from "./watcher.ts";

const WHY_END = "the server is about to end";

export class Watchers {
  readonly session: Session;
  readonly #watchers = new Set<Watcher>();
  readonly #subscription: Disposable;
  readonly #hold: Disposable;
  readonly #onEmpty: () => void;
  #running: Execution | undefined;
  /** After the last event of what runs. */
  #place: string | undefined;
  #isDraining = false;

  /** `onEmpty`: nobody watches any more, or there is nothing to be watched. */
  constructor(session: Session, onEmpty: () => void) {
    this.session = session;
    this.#onEmpty = onEmpty;
    this.#running = session.running;
    this.#place = this.#running?.place;
    this.#subscription = session.subscribe((event) => this.#tell(event));
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

  /** Those who have nothing more to hear go at once, the others when they have heard the end. */
  drain(): void {
    this.#isDraining = true;
    for (const watcher of this.#watchers) watcher.tell({ type: "server-end", why: WHY_END });
    this.dismiss();
  }

  /** While the server ends: whoever waits for nothing goes. */
  dismiss(): void {
    if (!this.#isDraining || this.session.state === "running") return;
    for (const watcher of this.#watchers) if (!watcher.isReading) watcher.close(CLOSE.serverEnd, WHY_END);
  }

  #tell(event: SessionEvent): void {
    if (event.type === "execution-start") {
      this.#running = this.session.running;
      this.#place = undefined;
    }
    const execution = "executionId" in event && event.executionId === this.#running?.id ? this.#running : undefined;
    const before = this.#place;
    const place = execution?.place;
    if (execution !== undefined) this.#place = place;
    let frame: Buffer | undefined;
    const heard = { event, execution, before, frame: () => (frame ??= toFrame(event, place)) };
    for (const watcher of this.#watchers) watcher.hear(heard);
    if (event.type === "execution-end") this.#end(execution);
    if (event.type === "session-end") {
      for (const watcher of this.#watchers) watcher.close(CLOSE.sessionEnd, "the session has ended");
    }
  }

  /** Undefined: of one that never began. */
  #end(execution: Execution | undefined): void {
    if (execution !== undefined) this.#running = undefined;
    // What waits for its turn begins right after this.
    if (this.#isDraining) setImmediate(() => this.dismiss());
  }
}

function toFrame(event: SessionEvent, place: string | undefined): Buffer {
  return Buffer.from(JSON.stringify(place === undefined ? event : { ...event, place }));
}
