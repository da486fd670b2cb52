// Bytes of any size as an answer, at the reader's pace, with their number told before the first of them.

import { onAbort } from "../../../util/async/on-abort.ts";
import type { Wire } from "../../net/bodies/request-stream.ts";

export interface Download {
  /** How many are promised. Where fewer come, the connection is cut. */
  readonly sizeBytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Called once, at the end, whatever it is. */
  readonly close: () => void;
}

/** A `HEAD` gets the headers, and nothing is read. */
export function toDownload(
  { sizeBytes, pieces, close }: Download,
  { request, wire }: { readonly request: Request; readonly wire: Wire },
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const told = { ...headers, "content-length": String(sizeBytes) };
  if (request.method === "HEAD" || request.signal.aborted) {
    close();
    return new Response(null, { status, headers: told });
  }
  const iterator = pieces[Symbol.asyncIterator]();
  let left = sizeBytes;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    pace.taken();
    stopListening();
    close();
  };
  // One that takes next to nothing keeps others from the place that is taken by this one.
  const pace = wire.pace(() => {
    end();
    wire.cut();
  });
  // A client that has gone before the first piece is asked for is told of by nobody else.
  const stopListening = onAbort(request.signal, end);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        pace.taken();
        try {
          const { value, done } = await iterator.next();
          if (done !== true) {
            left -= value.length;
            controller.enqueue(value);
            if (!isOver) pace.give(value.length);
          } else if (left === 0) controller.close();
          else throw new Error(`${left} bytes of the answer are missing`);
          if (done === true) end();
        } catch (error) {
          end();
          if (!wire.cut()) controller.error(error);
        }
      },
      cancel: async () => {
        end();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers: told });
}

/** For a name that code of a session may have chosen. */
export function toAttachment(name: string): string {
  const encoded = encodeURIComponent(name.replaceAll(/[\uD800-\uDFFF]/gu, "_")).replaceAll(
    /['()*]/g,
    (one) => `%${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
