// Two runs side by side: their rows aligned, where they part, and what is looked at.

import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import {
  alignRuns,
  firstDifference,
  foldSame,
  isDifference,
  type ComparedRow,
  type CompareLine,
} from "../../runs/model/compare.ts";
import { RunState } from "./run.ts";
import type { RunSource } from "./run-source.ts";

export class Comparison {
  readonly left: RunState;
  readonly right: RunState;
  readonly #unfolded = signal<ReadonlySet<string>>(new Set());
  readonly #selected = signal<string | undefined>(undefined);

  readonly rows: ReadonlySignal<readonly ComparedRow[]> = computed(() => {
    const isLoaded = this.left.outline.value !== undefined && this.right.outline.value !== undefined;
    return isLoaded ? alignRuns(this.left.root, this.right.root) : [];
  });
  readonly lines: ReadonlySignal<readonly CompareLine[]> = computed(() =>
    foldSame(this.rows.value, this.#unfolded.value),
  );
  /** Where the runs part first. Undefined: they are the same. */
  readonly parting: ReadonlySignal<ComparedRow | undefined> = computed(() => firstDifference(this.rows.value));
  readonly selected: ReadonlySignal<ComparedRow | undefined> = computed(
    () =>
      this.rows.value.find(({ place }) => place === this.#selected.value) ?? this.parting.value ?? this.rows.value[0],
  );

  constructor(left: RunSource, right: RunSource) {
    this.left = new RunState(left);
    this.right = new RunState(right);
  }

  /** Loads both, and follows them. Dispose to stop. */
  open(): Disposable {
    const both = [this.left.open(), this.right.open()];
    return {
      [Symbol.dispose]: () => {
        for (const one of both) one[Symbol.dispose]();
      },
    };
  }

  select(row: ComparedRow): void {
    batch(() => {
      this.#selected.value = row.place;
      if (row.left !== null) this.left.select(row.left.id);
      if (row.right !== null) this.right.select(row.right.id);
    });
  }

  unfold(place: string): void {
    this.#unfolded.value = new Set(this.#unfolded.value).add(place);
  }

  /** The row that many rows below, folded ones left out. */
  step(by: number): void {
    const rows = this.lines.value.flatMap((line) => (line.kind === "row" ? [line.row] : []));
    const at = rows.findIndex(({ place }) => place === this.selected.value?.place);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next !== undefined) this.select(next);
  }

  /** The next row that differs. */
  stepDifference(by: 1 | -1): void {
    const rows = this.rows.value.filter((row) => isDifference(row));
    const order = new Map(this.rows.value.map(({ place }, index) => [place, index]));
    const here = order.get(this.selected.value?.place ?? "") ?? -1;
    const ahead = by > 0 ? rows : rows.toReversed();
    const next = ahead.find(({ place }) => ((order.get(place) ?? 0) - here) * by > 0);
    if (next !== undefined) this.select(next);
  }
}
