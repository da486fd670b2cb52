// JSON objects, one per line, in order, until the stream ends.

import { StringDecoder } from "node:string_decoder";
import { MAX_EVENT_CHARACTERS, toObject } from "./event-stream.ts";
import { UnreadableEvent, type Fields } from "./wire-protocol.ts";

/** Throws UnreadableEvent. A line that the end of the stream cuts off is dropped. `onBytes` is called for every chunk. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Fields, void, void> {
  const decoder = new StringDecoder("utf8");
  // The pieces of a line are joined once, at its end: a server may send it byte by byte.
  let pieces: string[] = [];
  let characters = 0;
  for await (const chunk of chunks) {
    onBytes(chunk.byteLength);
    const [first = "", ...others] = decoder.write(chunk).split("\n");
    pieces.push(first);
    characters += first.length;
    for (const next of others) {
      const line = pieces.join("");
      pieces = [next];
      characters = next.length;
      if (line.trim() !== "") yield toObject(line);
    }
    if (characters > MAX_EVENT_CHARACTERS) {
      throw new UnreadableEvent(`a line has more than ${MAX_EVENT_CHARACTERS} characters`);
    }
  }
}
