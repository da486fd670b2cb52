// Sends bulk bytes to a worker in counted pieces behind a command, with at most one piece in flight.
//
// The end is marked, so the channel stays in sync when a source fails half-way or has another size than it said. The worker then
// discards what it got.

import type { Worker } from "../../environments/environment.ts";

/** A piece may be reused once the next one is requested. */
export interface BulkSource extends AsyncIterable<Uint8Array> {
  /** Absent: not known before the end. */
  readonly sizeBytes?: number;
}

const PIECE_BYTES = 1024 * 1024;

/** Never rejects: a failure of the source is sent to the worker, which reports it in its reply. */
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
