// The run that is shown, for everything below. The same parts show a run of a server and one in an exported file.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { RunState } from "../state/runs/run.ts";

export interface ShownRun {
  readonly run: RunState;
  /** The address of a row. */
  hrefOf(id: string): string;
}

const Run = createContext<ShownRun | undefined>(undefined);

export const RunProvider = Run.Provider;

export function useShownRun(): ShownRun {
  const shown = useContext(Run);
  if (shown === undefined) throw new Error("There is no run: render this inside of RunProvider");
  return shown;
}

export function useRun(): RunState {
  return useShownRun().run;
}
