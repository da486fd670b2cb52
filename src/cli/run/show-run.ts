// A run on the terminal: progress on stderr while it goes on, then the answer on stdout.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunResult } from "../../protocol/runs.ts";
import { fromRunResult } from "../exit-code.ts";
import { isLiveTerminal } from "../io/is-live-terminal.ts";
import { printError } from "../io/print-error.ts";
import type { StandardOutput } from "../io/standard-output.ts";
import { LineDisplay } from "./line-display.ts";
import { SILENT_DISPLAY, TreeDisplay, type RunDisplay } from "./run-display.ts";

export interface ShowOptions {
  readonly json?: true;
  readonly output: StandardOutput;
  readonly display: RunDisplay;
}

export function chooseDisplay({ quiet }: { readonly quiet?: true }): RunDisplay {
  if (quiet) return SILENT_DISPLAY;
  return isLiveTerminal() ? new TreeDisplay(process.stderr) : new LineDisplay(process.stderr);
}

/** Resolves with the exit code when the answer is printed. `result` is called when the events have ended. */
export async function showRun(
  events: AsyncIterable<RunEvent>,
  result: () => Promise<RunResult>,
  { json, output, display }: ShowOptions,
): Promise<number> {
  try {
    for await (const event of events) display.update(event);
    const ended = await result();
    display.end(ended);
    if (json) await output.write("stdout", `${JSON.stringify(ended)}\n`);
    else await print(ended, output);
    return fromRunResult(ended);
  } finally {
    display.end();
  }
}

async function print({ status, answer, why }: RunResult, output: StandardOutput): Promise<void> {
  if (status === "failed") printError(`the run failed: ${why ?? "it has no answer"}`);
  else if (status === "partial" && why !== null) printError(`the answer is not complete: ${why}`);
  if (answer !== null) await output.write("stdout", answer.endsWith("\n") ? answer : `${answer}\n`);
}
