// Server-sent events whose data is JSON: each as an object, in order, up to the end of the stream or the word `[DONE]`.
//
// Read straight from the body: the chain of web streams that the provider packages build for it costs more than the request.

import { StringDecoder } from "node:string_decoder";

const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

/** An object that somebody else made. */
export type Fields = Readonly<Record<string, unknown>>;

/** An event is no JSON object, too large, or not what its type says. The answer cannot be trusted from there on. */
export class UnreadableEvent extends Error {}

/** `onBytes` hears how much came, events or not. Leaving it cancels the body. Throws UnreadableEvent. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Fields, void, void> {
  const reader = body.getReader();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes(value.byteLength);
      rest += decoder.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
        if (line !== "" || data.length === 0) continue;
        const text = data.join("\n");
        if (text === "[DONE]") return;
        yield parse(text);
        data = [];
      }
      if (rest.length + data.reduce((sum, line) => sum + line.length, 0) > MAX_EVENT_CHARACTERS) {
        throw new UnreadableEvent(`an event has more than ${MAX_EVENT_CHARACTERS} characters`);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(text: string): Fields {
  try {
    const event: unknown = JSON.parse(text);
    if (typeof event === "object" && event !== null) return event as Fields;
  } catch {
    // Told below, without what the parser says of it.
  }
  throw new UnreadableEvent(`an event is no JSON object: ${text.slice(0, 1000)}`);
}
