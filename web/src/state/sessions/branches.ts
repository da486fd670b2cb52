// The branches of a session: read again whenever a checkpoint, a fork or a rewind may have changed them.

import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Checkpoint, HistoryEntry, Runtime, Session, SessionEvent, SessionInfo } from "rlm-runtime/client";
import { placeBranchNodes, toBranchNodes, type PlacedNode } from "./branch-tree.ts";

interface Facts {
  readonly checkpoints: readonly Checkpoint[];
  readonly sessions: readonly SessionInfo[];
  readonly history: readonly HistoryEntry[];
}

const NONE: Facts = { checkpoints: [], sessions: [], history: [] };
/** Of a burst of events, one is answered. */
const DELAY_MS = 150;

export class Branches {
  readonly #facts = signal<Facts>(NONE);
  readonly #present = signal<SessionInfo | undefined>(undefined);
  readonly #nodes = computed(() => this.#place());
  readonly #runtime: Runtime;
  readonly #session: Session;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(runtime: Runtime, session: Session) {
    this.#runtime = runtime;
    this.#session = session;
  }

  /** The newest first. Empty: not known yet. */
  get nodes(): ReadonlySignal<readonly PlacedNode[]> {
    return this.#nodes;
  }

  /** Kept checkpoints, the oldest first. */
  get checkpoints(): readonly Checkpoint[] {
    return this.#facts.value.checkpoints;
  }

  /** Whether a session is alive, as far as it is known. */
  isAlive(id: string): boolean {
    return this.#facts.value.sessions.some((session) => session.id === id);
  }

  setPresent(info: SessionInfo): void {
    const isFirst = this.#present.value === undefined;
    this.#present.value = info;
    if (isFirst) void this.refresh();
  }

  receive({ type }: SessionEvent): void {
    const isChange = type.startsWith("checkpoint-") || type === "session-fork" || type === "session-reset";
    if (!isChange && type !== "execution-end") return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), DELAY_MS);
  }

  async refresh(): Promise<void> {
    try {
      const [checkpoints, sessions, history, present] = await Promise.all([
        this.#session.checkpoints(),
        this.#runtime.sessions.list({ limit: 1_000 }),
        this.#session.history(),
        this.#session.info(),
      ]);
      this.#facts.value = { checkpoints, sessions: sessions.items, history };
      this.#present.value = present;
    } catch {
      // The session has ended, or the server is away: what is known stays.
    }
  }

  async drop(checkpointId: string): Promise<void> {
    await this.#session.dropCheckpoint(checkpointId);
    await this.refresh();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #place(): readonly PlacedNode[] {
    const info = this.#present.value;
    if (info === undefined) return [];
    return placeBranchNodes(toBranchNodes({ info, ...this.#facts.value })).toReversed();
  }
}
