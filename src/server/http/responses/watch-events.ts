// The changes of a folder as server-sent events.

import type { FileWatch } from "../../../session/files/file-watch.ts";
import { onAbort } from "../../../util/async/on-abort.ts";
import type { EventMessage } from "./event-stream.ts";

/** `whyEnded`: where the session has ended. Leaving the loop, or aborting the signal, closes the watch. */
export async function* watchEvents(
  watch: FileWatch,
  signal: AbortSignal,
  whyEnded: () => string | undefined,
): AsyncGenerator<EventMessage, void> {
  const stopListening = onAbort(signal, () => void watch.close());
  let why = "the folder is gone";
  try {
    yield { event: { type: "watch-start" }, data: {} };
    for await (const change of watch) yield { event: { type: "change" }, data: change };
  } catch (error) {
    why = (error as Error).message;
  } finally {
    stopListening();
    await watch.close();
  }
  if (!signal.aborted) yield { event: { type: "watch-end" }, data: { why: whyEnded() ?? why } };
}
