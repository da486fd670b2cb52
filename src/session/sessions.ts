// The live sessions of a runtime, by id.

import { LimitExceededError, SessionExistsError, SessionNotFoundError } from "../errors.ts";
import { parseSessionId, type SessionId } from "../protocol/ids.ts";
import { TotalMemory } from "./total-memory.ts";
import { Session, type SessionKeeper, type SessionSettings } from "./session.ts";
import type { Restoring } from "./state-operations.ts";

export class Sessions {
  readonly #live = new Map<string, Session>();
  /** Ids that are taken by sessions still being opened. */
  readonly #opening = new Set<string>();
  readonly #limit: number;
  readonly memory: TotalMemory;
  #made = 0;

  readonly #keeper: SessionKeeper = {
    onClosing: (session) => this.#live.delete(session.id),
    admit: (id, open) => this.#admit(id, open),
  };

  constructor(limit: number, totalMemoryBytes: number) {
    this.#limit = limit;
    this.memory = new TotalMemory(totalMemoryBytes, () => this.list());
  }

  /** Throws SessionNotFoundError. */
  get(id: string): Session {
    const session = this.#live.get(id);
    if (session === undefined) throw new SessionNotFoundError({ sessionId: id, known: [...this.#live.keys()] });
    return session;
  }

  list(): readonly Session[] {
    return [...this.#live.values()];
  }

  open(id: string | undefined, settings: Omit<SessionSettings, "id">, restoring?: Restoring): Promise<Session> {
    return this.#admit(id, (own) => Session.open({ ...settings, id: own }, this.#keeper, restoring));
  }

  async closeAll(why: string): Promise<void> {
    await Promise.all(this.list().map((session) => session.discard(why)));
  }

  async #admit(id: string | undefined, open: (id: SessionId) => Promise<Session>): Promise<Session> {
    const own = this.#claim(id);
    try {
      await this.memory.admit(`open session '${own}'`);
      const session = await open(own);
      this.#live.set(own, session);
      return session;
    } finally {
      this.#opening.delete(own);
    }
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
    let id: string;
    do id = `s${++this.#made}`;
    while (this.#isTaken(id));
    return id as SessionId;
  }

  #isTaken(id: string): boolean {
    return this.#live.has(id) || this.#opening.has(id);
  }
}
