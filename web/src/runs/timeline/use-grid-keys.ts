// The arrow keys in the table, as in every tree: up and down, left folds, right unfolds.

import type { RefObject } from "preact";
import type { RunState } from "../../state/runs/run.ts";
import { ROW_HEIGHT } from "./time-row.tsx";

export function useGridKeys(run: RunState, scroller: RefObject<HTMLElement | null>): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 4);
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => run.step(1),
      ArrowUp: () => run.step(-1),
      PageDown: () => run.step(page),
      PageUp: () => run.step(-page),
      Home: () => run.step(-Infinity),
      End: () => run.step(Infinity),
      ArrowLeft: () => run.foldSelected(),
      ArrowRight: () => run.unfoldSelected(),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
}
