// One run, as it is looked at: its outline, live if it goes on; what is selected and folded; the part of the time that is shown.

import { batch, computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { RunTree, type RunRow } from "../../runs/model/run-tree.ts";
import { clamped, type TimeRange } from "../../runs/model/time-scale.ts";
import { isFolded, revealed, shownFor, visibleRows, type Folds } from "../../runs/model/visible-rows.ts";
import { LiveReplies } from "./live-replies.ts";
import { OpenParts } from "./open-parts.ts";
import { RunSearch } from "./run-search.ts";
import type { RunMatch, RunOutline, RunSource } from "./run-source.ts";
import { RunTexts } from "./run-texts.ts";

export type RunLoading =
  | { readonly state: "loading" | "loaded" }
  | { readonly state: "failed"; readonly error: unknown };

/** How often what runs is drawn longer. */
const TICK_MS = 200;
/** So that an ended run does not touch the edge, and a run of no time has an axis. */
const MARGIN = 0.02;

export class RunState {
  readonly source: RunSource;
  readonly texts: RunTexts;
  readonly search: RunSearch;
  readonly parts = new OpenParts();
  readonly replies = new LiveReplies();

  readonly #tree = new RunTree();
  readonly #loading = signal<RunLoading>({ state: "loading" });
  readonly #outline = signal<RunOutline | undefined>(undefined);
  readonly #folds = signal<Folds>(new Map());
  readonly #selectedId = signal<string | undefined>(undefined);
  readonly #range = signal<TimeRange | undefined>(undefined);
  readonly #now = signal(Date.now());
  readonly #isFollowing = signal(true);
  readonly #isBroken = signal(false);
  readonly #fresh = signal(0);
  readonly #isReading = signal(false);
  #lastSize = 0;
  #awaitedId: string | undefined;

  /** Until when what has not ended is drawn. */
  readonly now: ReadonlySignal<number> = computed(() => {
    const outline = this.#outline.value;
    if (outline === undefined || this.isLive.value) return this.#now.value;
    return outline.endedAt ?? lastMoment(outline);
  });
  /** Changes with every outline and every fold. */
  readonly rows: ReadonlySignal<readonly RunRow[]> = computed(() =>
    this.#outline.value === undefined ? [] : visibleRows(this.#tree.root, this.#folds.value),
  );
  readonly selected: ReadonlySignal<RunRow | undefined> = computed(() => {
    const id = this.#selectedId.value;
    return this.#outline.value === undefined || id === undefined ? undefined : this.#tree.find(id);
  });
  /** The whole time of the run. */
  readonly bounds: ReadonlySignal<TimeRange> = computed(() => {
    const outline = this.#outline.value;
    const from = outline?.startedAt ?? 0;
    const to = outline?.endedAt ?? this.now.value;
    return { from, to: to + Math.max(1, (to - from) * MARGIN) };
  });
  /** The part of it that is shown. */
  readonly range: ReadonlySignal<TimeRange> = computed(() => {
    const chosen = this.#range.value;
    return chosen === undefined ? this.bounds.value : clamped(chosen, this.bounds.value);
  });
  readonly isWhole = computed(() => this.#range.value === undefined);
  readonly isLive = computed(
    () => this.#outline.value !== undefined && this.#outline.value.endedAt === null && !this.#isBroken.value,
  );

  constructor(source: RunSource) {
    this.source = source;
    this.texts = new RunTexts(source);
    this.search = new RunSearch(source);
  }

  get loading(): ReadonlySignal<RunLoading> {
    return this.#loading;
  }
  get outline(): ReadonlySignal<RunOutline | undefined> {
    return this.#outline;
  }
  get folds(): ReadonlySignal<Folds> {
    return this.#folds;
  }
  /** Its process is gone, and it has no end. */
  get isBroken(): ReadonlySignal<boolean> {
    return this.#isBroken;
  }
  /** Whether the table stays at what happens now. */
  get isFollowing(): ReadonlySignal<boolean> {
    return this.#isFollowing;
  }
  /** Rows that came while the reader looked elsewhere. */
  get fresh(): ReadonlySignal<number> {
    return this.#fresh;
  }
  /** Whether the transcript is open where it covers the table. */
  get isReading(): ReadonlySignal<boolean> {
    return this.#isReading;
  }
  get selectedId(): ReadonlySignal<string | undefined> {
    return this.#selectedId;
  }

  /** Loads the outline, and follows the run while it goes on. Dispose to stop. */
  open(): Disposable {
    const controller = new AbortController();
    void this.#run(controller.signal);
    const stopTicking = effect(() => {
      if (!this.isLive.value) return undefined;
      const timer = setInterval(() => {
        if (!isHidden()) this.#now.value = Date.now();
      }, TICK_MS);
      return () => clearInterval(timer);
    });
    return {
      [Symbol.dispose]: () => {
        controller.abort();
        stopTicking();
      },
    };
  }

  async #run(stop: AbortSignal): Promise<void> {
    this.#loading.value = { state: "loading" };
    try {
      const outline = await this.source.outline();
      if (stop.aborted) return;
      this.#take(outline);
      this.#fresh.value = 0;
      this.#loading.value = { state: "loaded" };
      if (outline.endedAt !== null) return;
      if (this.source.follow === undefined) {
        this.#isBroken.value = true;
        return;
      }
      for await (const next of this.source.follow(outline, {
        signal: stop,
        onReply: (nodeId, callId, text) => this.replies.add(nodeId, callId, text),
      })) {
        if (stop.aborted) return;
        this.#take(next);
      }
      if (!stop.aborted) this.#isBroken.value = this.#outline.value?.endedAt === null;
    } catch (error) {
      if (!stop.aborted) this.#loading.value = { state: "failed", error };
    }
  }

  #take(outline: RunOutline): void {
    this.#tree.update(outline);
    batch(() => {
      this.#outline.value = outline;
      this.#now.value = Math.max(Date.now(), outline.startedAt);
      if (!this.#isFollowing.value) this.#fresh.value += this.#tree.size - this.#lastSize;
      this.#selectedId.value ??= this.#tree.root?.id;
      this.#revealAwaited();
    });
    this.#lastSize = this.#tree.size;
  }

  /** What was selected before it was there. */
  #revealAwaited(): void {
    const row = this.#awaitedId === undefined ? undefined : this.#tree.find(this.#awaitedId);
    if (row === undefined) return;
    this.#awaitedId = undefined;
    this.#folds.value = revealed(row, this.#folds.value);
  }

  get root(): RunRow | undefined {
    return this.#tree.root;
  }

  find(id: string): RunRow | undefined {
    return this.#tree.find(id);
  }

  /** Unfolds what is above it. An id that is not known yet is selected when it comes. */
  select(id: string): void {
    const row = this.#tree.find(id);
    batch(() => {
      this.#selectedId.value = id;
      this.#awaitedId = row === undefined ? id : undefined;
      if (row !== undefined) this.#folds.value = revealed(row, this.#folds.value);
    });
  }

  /** Selects it to be read: on a phone the transcript opens. */
  read(id: string): void {
    this.select(id);
    this.#isReading.value = true;
  }

  closeTranscript(): void {
    this.#isReading.value = false;
  }

  /** Selects the row that many rows below (or above) in the table. */
  step(by: number): void {
    const rows = this.rows.value;
    const row = this.selected.value;
    const at = row === undefined ? -1 : rows.indexOf(shownFor(row, this.#folds.value));
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next === undefined) return;
    this.#selectedId.value = next.id;
    if (by < 0) this.follow(false);
  }

  isFolded(row: RunRow): boolean {
    return isFolded(row, this.#folds.value);
  }

  /** A selection inside of what is folded moves to the row that stays. */
  fold(row: RunRow, isFoldedNow: boolean): void {
    if (row.children.length === 0) return;
    batch(() => {
      this.#folds.value = new Map(this.#folds.value).set(row.id, isFoldedNow);
      const selected = this.selected.value;
      if (selected !== undefined) this.#selectedId.value = shownFor(selected, this.#folds.value).id;
    });
  }

  /** Folds the selected row, or moves to the row above it. */
  foldSelected(): void {
    const row = this.selected.value;
    if (row === undefined) return;
    if (row.children.length > 0 && !this.isFolded(row)) this.fold(row, true);
    else if (row.parent !== null) this.select(row.parent.id);
  }

  /** Unfolds the selected row, or moves into it. */
  unfoldSelected(): void {
    const row = this.selected.value;
    if (row === undefined) return;
    if (this.isFolded(row)) this.fold(row, false);
    else if (row.children[0] !== undefined) this.select(row.children[0].id);
  }

  foldAll(isFoldedNow: boolean): void {
    const folds = new Map<string, boolean>();
    const visit = (row: RunRow): void => {
      if (row.children.length > 0 && row.parent !== null) folds.set(row.id, isFoldedNow && row.kind !== "step");
      for (const child of row.children) visit(child);
    };
    if (this.#tree.root !== undefined) visit(this.#tree.root);
    batch(() => {
      this.#folds.value = folds;
      const selected = this.selected.value;
      if (selected !== undefined) this.#selectedId.value = shownFor(selected, folds).id;
    });
  }

  /** Undefined: all of it. */
  show(range: TimeRange | undefined): void {
    const { from, to } = this.bounds.value;
    const isAll = range !== undefined && range.from <= from && range.to >= to;
    this.#range.value = isAll ? undefined : range;
  }

  follow(isFollowing: boolean): void {
    batch(() => {
      this.#isFollowing.value = isFollowing;
      if (isFollowing) this.#fresh.value = 0;
    });
  }

  /** Selects what the match is in. */
  go(match: RunMatch): void {
    const { nodeId, step, callId } = match;
    if (nodeId === null) return this.read(this.#tree.root?.id ?? "n0");
    const ids = [
      callId === null ? undefined : `${nodeId}/${step ?? "-"}/${callId}`,
      step === null ? undefined : `${nodeId}/${step}`,
      nodeId,
    ];
    const found = ids.find((id) => id !== undefined && this.#tree.find(id) !== undefined);
    this.read(found ?? nodeId);
  }
}

/** When the last thing began or ended. */
function lastMoment({ startedAt, nodes, spans }: RunOutline): number {
  let last = startedAt;
  for (const part of [...nodes, ...spans]) last = Math.max(last, part.startedAt, part.endedAt ?? 0);
  return last;
}

function isHidden(): boolean {
  return typeof document !== "undefined" && document.hidden;
}
