// The events of a recorded run for one who follows it: what is recorded, and then what is being recorded, each once.

import type { RecordedEvent } from "../../../store/runs/event-decoder.ts";
import type { RecordedRun } from "../../../store/runs/run-log-reader.ts";
import type { Message } from "./event-stream.ts";

/**
 * After the event with this number; 0: all. `whole`: every text in its place; else as it is stored, with references. Ends with the run,
 * or where a signal is aborted. What is damaged is told as `event-lost`, and where there is no end, that is told as `run-broken`.
 */
export async function* followRecorded(
  recorded: RecordedRun,
  after: number,
  { isWhole, signal }: { readonly isWhole: boolean; readonly signal: AbortSignal },
): AsyncGenerator<Message> {
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
  if (!hasEnd && !signal.aborted) yield { event: { type: "run-broken", runId: recorded.id } as Message["event"] };
}

async function toWhole(event: RecordedEvent): Promise<Message["event"]> {
  try {
    return await event.whole();
  } catch {
    const { runId, seq } = event.stored;
    return { type: "event-lost", runId, seq } as Message["event"];
  }
}
