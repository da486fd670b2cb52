// Server-sent events, from the bytes of an answer.

export interface StreamedEvent {
  /** After which the stream can be taken up again; undefined where the server gave none. */
  readonly id: string | undefined;
  readonly type: string;
  /** Parsed, of whatever form. */
  readonly data: unknown;
}

/** A result with everything that it may hold is less. */
const MAX_MESSAGE_CHARACTERS = 512 * 1024 * 1024;

/** Comments are passed over. Throws where a message is none, or never ends. */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    size += text.length;
    if (size > MAX_MESSAGE_CHARACTERS) throw new Error("The server sends an event without an end");
    pieces.push(text);
    // A long message comes in many chunks: they are only put together where one may end.
    if (!text.includes("\n")) continue;
    const messages = pieces.join("").split("\n\n");
    const rest = messages.pop() ?? "";
    for (const message of messages) {
      const event = parseEvent(message);
      if (event !== undefined) yield event;
    }
    pieces = [rest];
    size = rest.length;
  }
}

/** Undefined for a comment. */
function parseEvent(message: string): StreamedEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of message.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ""));
  }
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { id: fields.get("id"), type: fields.get("event") ?? "message", data: JSON.parse(data) as unknown };
}
