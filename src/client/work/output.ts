// What executions and tasks printed, by byte offset.

import type { OutputRange, OutputSlice } from "../../api/execution.ts";
import { notOurs } from "../net/failure.ts";
import type { Requests } from "../net/requests.ts";

/** `sessionId`: the only session whose output it may be. Default: any. */
export async function readOutput(
  requests: Requests,
  path: () => Promise<string>,
  { stream, offset, length }: OutputRange,
  sessionId?: string,
): Promise<OutputSlice> {
  const query = { stream, offset, length, sessionId };
  const { bytes, headers } = await requests.bytes("GET", `${await path()}/output`, { query, isLarge: true });
  const toNumber = (name: string): number => {
    const value = Number(headers.get(name) ?? Number.NaN);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw notOurs(requests.connection.url, `it sends no valid '${name}'`);
  };
  const nextOffset = toNumber("next-offset");
  return {
    bytes,
    offset: nextOffset - bytes.length,
    nextOffset,
    totalBytes: toNumber("total-bytes"),
    readableBytes: toNumber("readable-bytes"),
  };
}
