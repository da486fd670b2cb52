// The list of runs: pages that are loaded on demand, and the latest page again and again while somebody looks.

import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import type { RunInfo, Runtime } from "rlm-runtime/client";
import { filterRuns, type RunStatusFilter } from "../../runs/model/filter-runs.ts";
import { usePolling } from "../use-polling.ts";

export type { RunInfo, RunStatusFilter };
export const STATUS_FILTERS: readonly RunStatusFilter[] = [
  "all",
  "running",
  "final",
  "partial",
  "failed",
  "cancelled",
  "broken",
];

const PAGE = 50;
/** A filter looks through so many. */
const PAGE_FILTERED = 1_000;
const POLL_RUNNING_MS = 1_500;
const POLL_MS = 5_000;
/** Two are compared. */
const COMPARED = 2;

export class RunList {
  readonly #runtime: Runtime;
  readonly #runs = signal<readonly RunInfo[] | undefined>(undefined);
  readonly #next = signal<string | null>(null);
  readonly #error = signal<unknown>(undefined);
  readonly #status = signal<RunStatusFilter>("all");
  readonly #words = signal("");
  readonly #chosen = signal<readonly string[]>([]);

  /** The latest first, those that pass the filters. Undefined: not known yet. */
  readonly shown: ReadonlySignal<readonly RunInfo[] | undefined> = computed(
    () => this.#runs.value && filterRuns(this.#runs.value, this.#status.value, this.#words.value),
  );

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  get runs(): ReadonlySignal<readonly RunInfo[] | undefined> {
    return this.#runs;
  }
  get error(): ReadonlySignal<unknown> {
    return this.#error;
  }
  get hasMore(): boolean {
    return this.#next.value !== null;
  }
  get status(): ReadonlySignal<RunStatusFilter> {
    return this.#status;
  }
  get words(): ReadonlySignal<string> {
    return this.#words;
  }
  /** Those to be compared, at most two. */
  get chosen(): ReadonlySignal<readonly string[]> {
    return this.#chosen;
  }

  async filter({ status = this.#status.value, words = this.#words.value }): Promise<void> {
    batch(() => {
      this.#status.value = status;
      this.#words.value = words;
    });
    if (this.hasMore && (status !== "all" || words !== "")) await this.more(PAGE_FILTERED);
  }

  /** A third one takes the place of the first. */
  choose(id: string, isChosen: boolean): void {
    const others = this.#chosen.value.filter((one) => one !== id);
    this.#chosen.value = isChosen ? [...others, id].slice(-COMPARED) : others;
  }

  async refresh(): Promise<void> {
    try {
      const { items, next } = await this.#runtime.runs.list({ limit: PAGE });
      const known = this.#runs.value ?? [];
      const isFirst = this.#runs.value === undefined;
      const ids = new Set(items.map(({ id }) => id));
      const last = items.at(-1);
      const older =
        last === undefined ? [] : known.filter((run) => !ids.has(run.id) && run.startedAt <= last.startedAt);
      batch(() => {
        this.#runs.value = [...items, ...older];
        if (isFirst) this.#next.value = next;
        this.#error.value = undefined;
      });
    } catch (error) {
      if (this.#runs.value === undefined) this.#error.value = error;
      throw error;
    }
  }

  async more(limit = PAGE): Promise<void> {
    const after = this.#next.value;
    if (after === null) return;
    const { items, next } = await this.#runtime.runs.list({ limit, after });
    batch(() => {
      const known = new Set(this.#runs.value?.map(({ id }) => id));
      this.#runs.value = [...(this.#runs.value ?? []), ...items.filter(({ id }) => !known.has(id))];
      this.#next.value = next;
    });
  }
}

/** Reads the list while the component is shown. */
export function useRunList(list: RunList): void {
  usePolling(
    () => list.refresh(),
    () => (list.runs.value?.some(({ status }) => status === "running") === true ? POLL_RUNNING_MS : POLL_MS),
  );
}
