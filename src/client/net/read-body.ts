// Reading responses: within a limit, and not for ever.

import { parseJSON } from "../../util/parse-json.ts";
import type { Clock } from "./clock.ts";

/** No bytes for this long, heartbeats included: the connection is broken. */
export const SILENCE_MS = 45_000;

export class TooLarge extends Error {}
export class Silence extends Error {}

/** Yields as the caller reads. Throws `Silence`. Leaving the loop closes the connection. */
export async function* readChunks({ body }: Response, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await readInTime(reader, clock);
      if (done || value === undefined) {
        isOver = true;
        return;
      }
      yield value;
    }
  } finally {
    if (!isOver) reader.cancel().catch(() => {});
  }
}

interface Read {
  readonly done: boolean;
  readonly value?: Uint8Array | undefined;
}

function readInTime(reader: { read(): Promise<Read> }, clock: Clock): Promise<Read> {
  return new Promise((resolve, reject) => {
    const cancel = clock.start(SILENCE_MS, () => reject(new Silence("the server is silent")));
    reader.read().then(resolve, reject).finally(cancel);
  });
}

/** Throws `TooLarge`. */
export async function readBytes(response: Response, clock: Clock, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(response.headers.get("content-length") ?? 0);
  if (announced > maxBytes) {
    void response.body?.cancel().catch(() => {});
    throw new TooLarge(`it has ${announced} bytes`);
  }
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of readChunks(response, clock)) {
    total += chunk.length;
    if (total > maxBytes) throw new TooLarge(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return join(chunks, total);
}

export function join(chunks: readonly Uint8Array[], total: number): Uint8Array {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0];
  const all = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Undefined: it is not JSON. */
export function toJSON(bytes: Uint8Array): unknown {
  return parseJSON(new TextDecoder().decode(bytes));
}
