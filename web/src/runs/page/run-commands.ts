// What can be done in a run with the keys, in the page and in an exported file.

import type { Command } from "../../state/commands.ts";
import type { RunState } from "../../state/runs/run.ts";
import { spanOf, timeAt, zoomed } from "../model/time-scale.ts";
import { SEARCH_FIELD } from "./run-search.tsx";

const ZOOM = 1.6;

export function runCommands(run: RunState): readonly Command[] {
  const zoom = (factor: number): void => {
    const range = run.range.value;
    const row = run.selected.value;
    const isInside = row !== undefined && row.startedAt >= range.from && row.startedAt <= range.to;
    run.show(zoomed(range, run.bounds.value, isInside ? row.startedAt : timeAt(0.5, range), factor));
  };
  return [
    { id: "run-next", title: "Next row", group: "Run", keys: "j", run: () => run.step(1) },
    { id: "run-previous", title: "Previous row", group: "Run", keys: "k", run: () => run.step(-1) },
    { id: "run-fold", title: "Fold, or go to the row above", group: "Run", keys: "h", run: () => run.foldSelected() },
    { id: "run-unfold", title: "Unfold, or go into it", group: "Run", keys: "l", run: () => run.unfoldSelected() },
    { id: "run-fold-all", title: "Fold everything", group: "Run", keys: "H", run: () => run.foldAll(true) },
    { id: "run-unfold-all", title: "Unfold everything", group: "Run", keys: "L", run: () => run.foldAll(false) },
    { id: "run-transcript", title: "Read the transcript", group: "Run", keys: "Enter", run: focusTranscript },
    { id: "run-search", title: "Search in the run", group: "Run", keys: "/", run: focusSearch },
    { id: "run-zoom-in", title: "Zoom in", group: "Run", keys: "+", run: () => zoom(1 / ZOOM) },
    { id: "run-zoom-out", title: "Zoom out", group: "Run", keys: "-", run: () => zoom(ZOOM) },
    { id: "run-zoom-row", title: "Zoom to the row", group: "Run", keys: "z", run: () => zoomToRow(run) },
    { id: "run-fit", title: "Show the whole time", group: "Run", keys: "0", run: () => run.show(undefined) },
  ];
}

function zoomToRow(run: RunState): void {
  const row = run.selected.value;
  if (row === undefined) return;
  const range = { from: row.startedAt, to: row.endedAt ?? run.now.value };
  const margin = Math.max(1, spanOf(range) * 0.05);
  run.show({ from: range.from - margin, to: range.to + margin });
}

function focusTranscript(): void {
  document.querySelector<HTMLElement>("[data-transcript]")?.focus();
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>(`#${SEARCH_FIELD}`);
  field?.focus();
  field?.select();
}
