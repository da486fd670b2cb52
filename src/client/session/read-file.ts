// Reads a file as a stream that continues after a lost connection, as long as the file is the same.

import type { Signal } from "../../api/web-types.ts";
import { FileError, ServerRefusedError } from "../../errors.ts";
import type { Exchange } from "../net/connection.ts";
import { connectionError, notOurs, TemporaryFailure } from "../net/failure.ts";
import { readChunks } from "../net/read-body.ts";
import type { Requests } from "../net/requests.ts";

export interface FileRange {
  /** For messages. */
  readonly path: string;
  readonly url: string;
  readonly offset: number;
  /** Undefined: to the end. */
  readonly length: number | undefined;
  readonly signal: Signal | undefined;
  /** Larger content is refused before it is read, where its size is known. */
  readonly maxBytes?: number | undefined;
}

/** Throws a FileError. Leaving the loop closes the connection. */
export async function* readFile(
  { connection }: Requests,
  { path, url, offset, length, signal, maxBytes }: FileRange,
): AsyncGenerator<Uint8Array, void, undefined> {
  const backoff = connection.backoff();
  let at = offset;
  let left = length ?? Infinity;
  let tag: string | undefined;
  let hasBegun = false;
  for (;;) {
    let exchange: Exchange | undefined;
    try {
      const isPart = at > 0 || left !== Infinity;
      const range = `bytes=${at}-${left === Infinity ? "" : at + Math.max(1, left) - 1}`;
      exchange = await connection.attempt("GET", url, {
        signal,
        headers: { ...(isPart && { range }), ...(hasBegun && { "if-range": tag ?? '""' }) },
      });
      const { response, toFailure } = exchange;
      checkResponse(path, response, connection.url);
      if (hasBegun && (response.status !== 206 || tag === undefined)) throw changed(connection.url, path);
      if (isPart && response.status !== 206) throw notOurs(connection.url, "it ignores the range of a request");
      if (maxBytes !== undefined && !hasBegun && Number(response.headers.get("content-length") ?? 0) > maxBytes) {
        throw new FileError({ action: "read", path, reason: "too-large", why: `it has more than ${maxBytes} bytes` });
      }
      tag ??= toTag(response);
      hasBegun = true;
      if (left === 0) return;
      const chunks = readChunks(response, connection.clock);
      for (;;) {
        const { done, value } = await chunks.next().catch((error: unknown) => {
          throw toFailure(error);
        });
        if (done === true) return;
        const piece = value.length > left ? value.subarray(0, left) : value;
        at += piece.length;
        left -= piece.length;
        backoff.reset();
        yield piece;
        if (left === 0) return;
      }
    } catch (error) {
      if (error instanceof ServerRefusedError && error.problem === "NO_SUCH_RANGE" && !hasBegun) return;
      if (!(error instanceof TemporaryFailure)) throw error;
      await backoff.wait(error, signal === undefined ? [connection.closing] : [connection.closing, signal]);
    } finally {
      exchange?.close();
    }
  }
}

/** The list of a folder is JSON; the content of a file never is. */
function checkResponse(path: string, { headers }: Response, url: string): void {
  const type = headers.get("content-type");
  if (type === null) throw notOurs(url, "it sends a file without a type");
  if (!type.startsWith("application/json")) return;
  throw new FileError({ action: "read", path, reason: "is-a-folder", why: "it is a folder" });
}

/** Undefined: the file could change without notice, so that nothing can be resumed. */
function toTag({ headers }: Response): string | undefined {
  const tag = headers.get("etag");
  return tag === null || tag.startsWith("W/") ? undefined : tag;
}

function changed(url: string, path: string): Error {
  return connectionError(
    url,
    `Cannot go on reading '${path}': the connection was lost, and the file may have changed since. Read it again`,
  );
}
