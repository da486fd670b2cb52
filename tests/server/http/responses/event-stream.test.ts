import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { streamEvents, type EventMessage } from "../../../../src/server/http/responses/event-stream.ts";

const { signal: never } = new AbortController();

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Ends when the client has gone. */
function silent(signal: AbortSignal): AsyncIterable<EventMessage> {
  const gone = new Promise<IteratorResult<EventMessage>>((resolve) => {
    signal.addEventListener("abort", () => resolve({ done: true, value: undefined }));
  });
  return { [Symbol.asyncIterator]: () => ({ next: () => gone }) };
}

test("a response that nobody reads opens nothing", () => {
  const open = vi.fn(silent);
  for (let i = 0; i < 10; i += 1) streamEvents(open, { closing: never });
  expect(open).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test("a silent stream has heartbeats, and a stuck reader costs one of them", async () => {
  const reader = reading(streamEvents(silent, { closing: never }));
  for (let i = 0; i < 3; i += 1) {
    const next = reader.read();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(toText((await next).value)).toBe(": still here\n\n");
  }
  await vi.advanceTimersByTimeAsync(150_000);
  expect(toText((await reader.read()).value)).toBe(": still here\n\n");
  const next = reader.read();
  const first = await Promise.race([next.then(() => "more"), vi.advanceTimersByTimeAsync(1000).then(() => "nothing")]);
  expect(first).toBe("nothing");
  await reader.cancel();
  expect(vi.getTimerCount()).toBe(0);
});

test("a failing source ends the stream and leaves no timer", async () => {
  const broken = async function* (): AsyncGenerator<EventMessage> {
    yield { id: "1", event: { type: "one" } };
    throw new Error("cannot be read");
  };
  const reader = reading(streamEvents(broken, { closing: never }));
  expect(toText((await reader.read()).value)).toBe('id: 1\nevent: one\ndata: {"type":"one"}\n\n');
  await expect(reader.read()).rejects.toThrow("cannot be read");
  expect(vi.getTimerCount()).toBe(0);
});

function reading({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (body === null) throw new Error("There is no body");
  return body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
}

function toText(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}
