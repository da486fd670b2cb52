// The live sessions of a runtime, by id.

import { LimitExceededError, SessionClosedError, SessionExistsError, SessionNotFoundError } from "../errors.ts";
import { parseSessionId, type SessionId } from "../protocol/ids.ts";
import { ClosedSessions } from "./closed-sessions.ts";
import type { Execution } from "./execution/execution.ts";
import { TotalMemory } from "./kernels/total-memory.ts";
import { Session, type SessionRegistry, type SessionNames, type SessionSettings } from "./session.ts";
import type { Restoring } from "./state/state-operations.ts";
import { idMaker, randomId, type IdStyle } from "../util/make-id.ts";

/** Observes the opening and closing of sessions. */
export interface SessionsObserver {
  onOpened(session: Session): void;
  onClosing(session: Session, why: string): void;
}

export class Sessions {
  observer: SessionsObserver | undefined;
  readonly closed = new ClosedSessions();
  readonly #live = new Map<string, Session>();
  /** Ids of sessions that are being opened. */
  readonly #opening = new Set<string>();
  /** By id: what concurrent callers of `obtain` share. */
  readonly #obtaining = new Map<string, Promise<Session>>();
  readonly #numbers = new WeakMap<Session, number>();
  #lastNumber = 0;
  readonly #limit: number;
  readonly memory: TotalMemory;
  readonly #ids: IdStyle;
  readonly #makeId: () => SessionId;
  #closedWhy: string | undefined;

  readonly #registry: SessionRegistry = {
    onClosing: (session, why) => {
      if (!this.#live.delete(session.id)) return;
      this.closed.add(session, why);
      this.observer?.onClosing(session, why);
    },
    admit: (id, open) => this.#admitFork(id, open),
  };

  constructor(limit: number, totalMemoryBytes: number, ids: IdStyle) {
    this.#limit = limit;
    this.#ids = ids;
    this.#makeId = idMaker("s", ids) as () => SessionId;
    this.memory = new TotalMemory(totalMemoryBytes, () => this.list());
  }

  /** Throws SessionNotFoundError. */
  get(id: string): Session {
    const session = this.#live.get(id);
    if (session === undefined) throw new SessionNotFoundError({ sessionId: id, known: [...this.#live.keys()] });
    return session;
  }

  /** Undefined: there is none. */
  find(id: string): Session | undefined {
    return this.#live.get(id);
  }

  /** An execution that its session keeps. */
  findExecution(id: string): Execution | undefined {
    for (const session of this.#live.values()) {
      const execution = session.execution(id);
      if (execution !== undefined) return execution;
    }
    return undefined;
  }

  /** Later ones have larger numbers, also across restarts of the host. */
  numberOf(session: Session): number {
    return this.#numbers.get(session) ?? 0;
  }

  /** The oldest first. */
  list(): readonly Session[] {
    return [...this.#live.values()];
  }

  open(
    id: string | undefined,
    settings: Omit<SessionSettings, keyof SessionNames>,
    restoring?: Restoring,
  ): Promise<Session> {
    return this.#admit(id, (names) => Session.open({ ...settings, ...names }, this.#registry, restoring));
  }

  /** The live session with this id, else the one that `open` opens. Concurrent calls open one session. */
  async obtain(id: string, open: () => Promise<Session>): Promise<Session> {
    const live = this.#live.get(id);
    if (live !== undefined) return live;
    const obtaining = this.#obtaining.get(id) ?? open().finally(() => this.#obtaining.delete(id));
    this.#obtaining.set(id, obtaining);
    return obtaining;
  }

  /** Closes all sessions, also those that are being forked. */
  async closeAll(why: string): Promise<void> {
    this.#closedWhy = why;
    await Promise.all(this.list().map((session) => session.discard(why)));
  }

  async #admit(id: string | undefined, open: (names: SessionNames) => Promise<Session>): Promise<Session> {
    const own = this.#claim(id);
    // A chosen id can be reused after the session has ended. The executions of both sessions must have different ids.
    const executionPrefix = id !== undefined && this.#ids === "random" ? randomId(own) : own;
    try {
      await this.memory.admit(`open session '${own}'`);
      const session = await open({ id: own, executionPrefix });
      this.#live.set(own, session);
      this.#lastNumber = Math.max(this.#lastNumber + 1, Date.now() * 1000);
      this.#numbers.set(session, this.#lastNumber);
      this.observer?.onOpened(session);
      return session;
    } finally {
      this.#opening.delete(own);
    }
  }

  async #admitFork(id: string | undefined, open: (names: SessionNames) => Promise<Session>): Promise<Session> {
    const session = await this.#admit(id, open);
    if (this.#closedWhy === undefined) return session;
    await session.discard(this.#closedWhy);
    throw new SessionClosedError({ sessionId: session.id, why: this.#closedWhy });
  }

  #claim(wanted: string | undefined): SessionId {
    if (this.#live.size + this.#opening.size >= this.#limit) {
      throw new LimitExceededError({ what: "open another session", limit: "sessions", value: this.#limit });
    }
    const id = wanted === undefined ? this.#generate() : parseSessionId(wanted);
    if (this.#isTaken(id)) throw new SessionExistsError({ sessionId: id });
    this.#opening.add(id);
    return id;
  }

  #generate(): SessionId {
    let id: SessionId;
    do id = this.#makeId();
    while (this.#isTaken(id));
    return id;
  }

  #isTaken(id: string): boolean {
    return this.#live.has(id) || this.#opening.has(id);
  }
}
