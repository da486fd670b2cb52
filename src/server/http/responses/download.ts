// A response of any size with a known length, streamed with backpressure.

import { onAbort } from "../../../util/async/on-abort.ts";
import type { RequestStream } from "../../net/bodies/request-stream.ts";

export interface Download {
  /** The announced length. The connection is cut when fewer bytes come. */
  readonly sizeBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called once, however the download ends. */
  readonly close: () => void;
}

/** For a `HEAD`, nothing is read. */
export function toDownload(
  { sizeBytes, chunks, close }: Download,
  { request, stream }: { readonly request: Request; readonly stream: RequestStream },
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const responseHeaders = { ...headers, "content-length": String(sizeBytes) };
  if (request.method === "HEAD" || request.signal.aborted) {
    close();
    return new Response(null, { status, headers: responseHeaders });
  }
  const iterator = chunks[Symbol.asyncIterator]();
  let left = sizeBytes;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    throughput.stop();
    stopListening();
    close();
  };
  const throughput = stream.minThroughput(() => {
    end();
    stream.cut();
  });
  // When the client disconnects before the first chunk is pulled, only the signal reports it.
  const stopListening = onAbort(request.signal, end);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        throughput.stop();
        try {
          const { value, done } = await iterator.next();
          if (done !== true) {
            left -= value.length;
            controller.enqueue(value);
            if (!isOver) throughput.expectRead(value.length);
          } else if (left === 0) controller.close();
          else throw new Error(`${left} bytes of the answer are missing`);
          if (done === true) end();
        } catch (error) {
          end();
          if (!stream.cut()) controller.error(error);
        }
      },
      cancel: async () => {
        end();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers: responseHeaders });
}

/** The name may have been chosen by code in a session. */
export function toAttachment(name: string): string {
  const encoded = encodeURIComponent(name.replaceAll(/[\uD800-\uDFFF]/gu, "_")).replaceAll(
    /['()*]/g,
    (one) => `%${(one.codePointAt(0) ?? 0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
