// Bulk bytes to a worker, in counted pieces behind a command, so that no more than one of them is ever in flight.
//
// The end is marked: a source that fails half-way, or has more or less than it said, is told to the worker as that, which
// then sets nothing; the channel stays in step.

import type { Worker } from "../environments/environment.ts";

/** A piece may be used again when the next one is asked for. */
export interface BulkSource extends AsyncIterable<Uint8Array> {
  /** How much there is. Absent: nobody knows before the end. */
  readonly sizeBytes?: number;
}

const PIECE_BYTES = 1024 * 1024;

/** Never rejects: what goes wrong with the source, the worker hears, and says so in its answer. */
export async function sendBulk(worker: Worker, source: BulkSource, isWanted: () => boolean): Promise<void> {
  let sent = 0;
  try {
    for await (const bytes of source) {
      sent += bytes.length;
      if (source.sizeBytes !== undefined && sent > source.sizeBytes) throw new Error("it grew while it was read");
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        worker.command(`{"bytes":${piece.length}}`, piece);
        await worker.commandTaken();
        if (!isWanted()) throw new Error("it was stopped");
      }
    }
    if (source.sizeBytes !== undefined && sent < source.sizeBytes) throw new Error("it shrank while it was read");
    worker.command(`{"end":true}`);
  } catch (error) {
    worker.command(JSON.stringify({ failed: error instanceof Error ? error.message : String(error) }));
  }
}
