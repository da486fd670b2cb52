// What an execution or a task printed, from a byte offset, as an answer: bytes, and in headers where they are.
//
// It is read piece by piece, when the client has taken the piece before: one that reads slowly costs no more memory than another.

import type { z } from "zod";
import type { Execution } from "../../../session/execution/execution.ts";
import type { OutputRange } from "../../../output/output-slice.ts";
import { given } from "../../../util/omit-undefined.ts";
import { toDownload } from "./download.ts";
import type { Asked } from "../route.ts";
import type { outputQuery } from "../../../protocol/api/executions.ts";

type Printed = Pick<Execution, "output">;

const DEFAULT_BYTES = 1024 * 1024;
const MAX_BYTES = 64 * DEFAULT_BYTES;
const PIECE_BYTES = 256 * 1024;

export function toOutput(printed: Printed, asked: Asked<z.output<typeof outputQuery>>): Response {
  const { stream, offset = 0, length = DEFAULT_BYTES } = asked.query;
  const where = given({ stream });
  const { totalBytes, readableBytes } = printed.output({ ...where, offset, length: 0 });
  const sizeBytes = Math.max(0, Math.min(length, MAX_BYTES, readableBytes - offset));
  const pieces = readPieces(printed, { ...where, offset }, sizeBytes);
  return toDownload({ sizeBytes, pieces, close: () => {} }, asked, 200, {
    "content-type": "application/octet-stream",
    "next-offset": String(offset + sizeBytes),
    "total-bytes": String(totalBytes),
    "readable-bytes": String(readableBytes),
  });
}

/** Ends early where it is kept no longer. */
async function* readPieces(
  printed: Printed,
  { stream, offset = 0 }: OutputRange,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sizeBytes;) {
    const length = Math.min(PIECE_BYTES, sizeBytes - at);
    const { bytes } = printed.output({ ...given({ stream }), offset: offset + at, length });
    if (bytes.length === 0) return;
    at += bytes.length;
    yield bytes;
  }
}
