// The live sessions, as they were when they were last asked for.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { Runtime, Session, SessionInfo, SessionOptions } from "rlm-runtime/client";

const MAX_SHOWN = 1_000;

export class SessionList {
  readonly #sessions = signal<readonly SessionInfo[] | undefined>(undefined);
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Undefined: not known yet. */
  get sessions(): ReadonlySignal<readonly SessionInfo[] | undefined> {
    return this.#sessions;
  }

  async refresh(): Promise<void> {
    const { items } = await this.#runtime.sessions.list({ limit: MAX_SHOWN });
    this.#sessions.value = items;
  }

  async open(options: Pick<SessionOptions, "id" | "environment" | "autoCheckpoint">): Promise<Session> {
    const session = await this.#runtime.openSession(options);
    void this.refresh().catch(() => {});
    return session;
  }

  async close(id: string): Promise<void> {
    const session = await this.#runtime.sessions.get(id);
    await session.close();
    await this.refresh();
  }
}
