// Follows a recorded run: the events that are recorded, then those that are being recorded, each once.

import type { RecordedEvent } from "../../../store/runs/event-decoder.ts";
import type { RecordedRun } from "../../../store/runs/run-log-reader.ts";
import type { EventMessage } from "./event-stream.ts";

/**
 * Starts after the event with this number; 0: all. `isWhole`: with every text in place; otherwise as stored, with references. Ends with
 * the run, or when the signal is aborted. A damaged event is reported as `event-lost`, a missing end as `run-broken`.
 */
export async function* followRecorded(
  recorded: RecordedRun,
  after: number,
  { isWhole, signal }: { readonly isWhole: boolean; readonly signal: AbortSignal },
): AsyncGenerator<EventMessage> {
  let hasEnd = false;
  try {
    for await (const event of recorded.follow(signal)) {
      const { stored } = event;
      hasEnd ||= stored.type === "run-end";
      const seq = Number(stored["seq"]);
      if (seq > after) yield { id: String(seq), event: isWhole ? await toWhole(event) : stored };
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (!hasEnd && !signal.aborted) yield { event: { type: "run-broken", runId: recorded.id } as EventMessage["event"] };
}

async function toWhole(event: RecordedEvent): Promise<EventMessage["event"]> {
  try {
    return await event.whole();
  } catch {
    const { runId, seq } = event.stored;
    return { type: "event-lost", runId, seq } as EventMessage["event"];
  }
}
