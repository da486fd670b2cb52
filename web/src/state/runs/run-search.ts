// Full-text search in one run. The server searches; a page of matches is kept, and more are asked for on demand.

import { batch, signal, type ReadonlySignal } from "@preact/signals";
import type { RunMatch, RunSource } from "./run-source.ts";

const MAX_MATCHES = 2_000;

export class RunSearch {
  readonly #source: RunSource;
  readonly #text = signal("");
  readonly #matches = signal<readonly RunMatch[]>([]);
  readonly #at = signal(-1);
  readonly #state = signal<"idle" | "searching" | "failed">("idle");
  readonly #next = signal<number | null>(null);
  #error: unknown;
  #turn = 0;

  constructor(source: RunSource) {
    this.#source = source;
  }

  /** What the matches are for. Empty: nothing is sought. */
  get text(): ReadonlySignal<string> {
    return this.#text;
  }
  get matches(): ReadonlySignal<readonly RunMatch[]> {
    return this.#matches;
  }
  /** The chosen match. -1: none. */
  get at(): ReadonlySignal<number> {
    return this.#at;
  }
  /** The chosen match itself. */
  get chosen(): RunMatch | undefined {
    return this.#matches.value[this.#at.value];
  }
  get state(): ReadonlySignal<"idle" | "searching" | "failed"> {
    return this.#state;
  }
  /** Not everything was searched yet. */
  get hasMore(): boolean {
    return this.#next.value !== null && this.#matches.value.length < MAX_MATCHES;
  }
  get error(): unknown {
    return this.#error;
  }

  async find(text: string): Promise<void> {
    const sought = text.trim();
    if (sought === this.#text.value) return;
    batch(() => {
      this.#text.value = sought;
      this.#matches.value = [];
      this.#at.value = -1;
      this.#next.value = null;
      this.#state.value = "idle";
    });
    this.#turn += 1;
    if (sought !== "") await this.#search(0);
  }

  async more(): Promise<void> {
    const next = this.#next.value;
    if (next !== null && this.#state.value !== "searching") await this.#search(next);
  }

  /** The next match, or the one before; around the end to the beginning. */
  step(by: number): RunMatch | undefined {
    const { length } = this.#matches.value;
    if (length === 0) return undefined;
    return this.choose((Math.max(this.#at.value, by > 0 ? -1 : 0) + by + length) % length);
  }

  choose(index: number): RunMatch | undefined {
    this.#at.value = index;
    return this.#matches.value[index];
  }

  async #search(after: number): Promise<void> {
    const turn = this.#turn;
    this.#state.value = "searching";
    try {
      const answer = await this.#source.search(this.#text.value, after);
      if (turn !== this.#turn) return;
      batch(() => {
        this.#matches.value = [...this.#matches.value, ...answer.matches];
        this.#next.value = answer.next;
        this.#state.value = "idle";
      });
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#error = error;
      this.#state.value = "failed";
    }
  }
}
