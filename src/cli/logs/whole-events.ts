// The events of a recorded run with their full texts, and what is missing of them.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RecordedEvent } from "../../store/runs/event-decoder.ts";
import type { RecordedRun } from "../../store/runs/run-log-reader.ts";
import { printError } from "../io/print-error.ts";

/** Leaves out an event that cannot be read, and says so on stderr. */
export async function* wholeEvents(events: AsyncIterable<RecordedEvent>): AsyncGenerator<RunEvent> {
  for await (const recorded of events) {
    const event = await recorded.whole().catch((error: unknown) => reportDamaged(recorded.stored, error));
    if (event !== undefined) yield event;
  }
}

export function reportDamaged(stored: Readonly<Record<string, unknown>>, error: unknown): undefined {
  printError(`event ${String(stored["seq"])} is left out: ${error instanceof Error ? error.message : String(error)}`);
}

/** After its events were read. */
export async function reportIncomplete(run: RecordedRun): Promise<void> {
  const summary = await run.summary();
  if (summary?.status === "running") printError(`run ${run.id} is still running: these are the events so far`);
  if (summary?.status === "broken") printError(`run ${run.id} is broken: its process is gone, and it has no end`);
  reportDamagedLines(run);
}

export function reportDamagedLines({ damagedLines }: RecordedRun): void {
  if (damagedLines > 0) printError(`${damagedLines} lines of the log are damaged and left out`);
}
