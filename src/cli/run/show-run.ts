// A run on the terminal: progress on stderr while it goes on, then the answer on stdout.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunResult } from "../../protocol/runs.ts";
import { quote } from "../completion/shell-words.ts";
import { fromRunResult } from "../exit-code.ts";
import { isLiveTerminal } from "../io/is-live-terminal.ts";
import { printError } from "../io/print-error.ts";
import type { StandardOutput } from "../io/standard-output.ts";
import { describeEnd } from "./describe-end.ts";
import { LineDisplay } from "./line-display.ts";
import { SILENT_DISPLAY, TreeDisplay, type RunDisplay } from "./run-display.ts";

export interface ShowOptions {
  readonly json?: true;
  readonly quiet?: true;
  readonly output: StandardOutput;
  readonly display: RunDisplay;
  /** The address that the user gave. Undefined: `rlm visualize` finds the run by itself. */
  readonly url?: string | undefined;
}

export function chooseDisplay({ quiet }: { readonly quiet?: true }): RunDisplay {
  if (quiet) return SILENT_DISPLAY;
  return isLiveTerminal() ? new TreeDisplay(process.stderr) : new LineDisplay(process.stderr);
}

/** Resolves with the exit code when the answer is printed. `result` is called when the events have ended. */
export async function showRun(
  events: AsyncIterable<RunEvent>,
  result: () => Promise<RunResult>,
  options: ShowOptions,
): Promise<number> {
  const { json, output, display } = options;
  try {
    for await (const event of events) display.update(event);
    const ended = await result();
    display.end(ended);
    pointToPage(ended, options);
    if (json) await output.write("stdout", `${JSON.stringify(ended)}\n`);
    else await print(ended, output);
    return fromRunResult(ended);
  } finally {
    display.end();
  }
}

/** A reader at a terminal may want to see what happened. */
function pointToPage({ runId }: RunResult, { quiet, url }: ShowOptions): void {
  if (quiet || !isLiveTerminal()) return;
  const server = url === undefined ? "" : `RLM_URL=${quote(url)} `;
  process.stderr.write(`in a browser: ${server}rlm visualize ${runId}\n`);
}

async function print(result: RunResult, output: StandardOutput): Promise<void> {
  const { answer } = result;
  const why = describeEnd(result);
  if (why !== undefined) printError(why);
  if (answer !== null) await output.write("stdout", answer.endsWith("\n") ? answer : `${answer}\n`);
}
