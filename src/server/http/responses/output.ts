// The output of an execution or a task from a byte offset. Headers say where the bytes are.
//
// A chunk is read when the client has taken the one before, so a slow client costs no memory.

import type { z } from "zod";
import type { Execution } from "../../../session/execution/execution.ts";
import type { OutputRange } from "../../../output/output-slice.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { toDownload } from "./download.ts";
import type { RouteRequest } from "../route.ts";
import type { outputQuery } from "../../../protocol/api/executions.ts";

type Source = Pick<Execution, "output">;

const DEFAULT_BYTES = 1024 * 1024;
const MAX_BYTES = 64 * DEFAULT_BYTES;
const CHUNK_BYTES = 256 * 1024;

export function toOutput(source: Source, request: RouteRequest<z.output<typeof outputQuery>>): Response {
  const { stream, offset = 0, length = DEFAULT_BYTES } = request.query;
  const where = omitUndefined({ stream });
  const { totalBytes, readableBytes } = source.output({ ...where, offset, length: 0 });
  const sizeBytes = Math.max(0, Math.min(length, MAX_BYTES, readableBytes - offset));
  const chunks = readChunks(source, { ...where, offset }, sizeBytes);
  return toDownload({ sizeBytes, chunks, close: () => {} }, request, 200, {
    "content-type": "application/octet-stream",
    "next-offset": String(offset + sizeBytes),
    "total-bytes": String(totalBytes),
    "readable-bytes": String(readableBytes),
  });
}

/** Ends early when the output is no longer kept. */
async function* readChunks(
  source: Source,
  { stream, offset = 0 }: OutputRange,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sizeBytes;) {
    const length = Math.min(CHUNK_BYTES, sizeBytes - at);
    const { bytes } = source.output({ ...omitUndefined({ stream }), offset: offset + at, length });
    if (bytes.length === 0) return;
    at += bytes.length;
    yield bytes;
  }
}
