import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WorkerCall } from "../../../src/kernel/bulk/worker-call.ts";
import { CallSources } from "../../../src/kernel/bulk/call-sources.ts";
import { SpoolSpace } from "../../../src/kernel/bulk/spooled-bytes.ts";
import { PendingRequests } from "../../../src/kernel/pending-requests.ts";
import { parseWorkerEvent } from "../../../src/protocol/worker/parse-worker-event.ts";
import type { StatusEvent } from "../../../src/protocol/worker/worker-events.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

const never = new AbortController().signal;

/** The sources of a worker that sends what the test says. */
function open(maxBytes = 1_000) {
  const sent: Record<string, unknown>[] = [];
  const asked: string[] = [];
  let wake = (): void => {};
  const requests = new PendingRequests();
  const aside = (line: string): void => {
    const message = JSON.parse(line) as Record<string, unknown>;
    sent.push(message);
    if (message["cmd"] === "fetch") asked.push(String(message["id"]));
    wake();
  };
  const sources = new CallSources({ aside }, requests, new SpoolSpace(maxBytes));
  /** The id of the next request. */
  const begun = async (): Promise<string> => {
    while (asked.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return asked.shift() ?? "";
  };
  return {
    sent,
    requests,
    sources,
    begun,
    /** Whether the bytes were expected. */
    chunk: (id: string, at: number, text: string): boolean => {
      const take = requests.sinkOf({ id, at, bytes: text.length });
      take?.(Buffer.from(text));
      return take !== undefined;
    },
    end: (id: string, fields: object): boolean =>
      requests.resolve(parseWorkerEvent({ type: "status", id, status: "ok", ...fields }) as StatusEvent),
  };
}

test("the bytes of a source are in a file until it is disposed, and their space is then free again", async () => {
  const { sent, sources, begun, chunk, end } = open(10);
  for (let round = 0; round < 3; round += 1) {
    const fetched = sources.fetch(7, 2, never);
    const id = await begun();
    expect(sent.at(-1)).toEqual({ id, cmd: "fetch", call: 7, source: 2 });
    expect([chunk(id, 0, "01234"), chunk(id, 5, "56789")]).toEqual([true, true]);
    end(id, { data: { size: 10 } });
    using bytes = await fetched;
    expect([bytes.sizeBytes, readFileSync(bytes.path, "utf8")]).toEqual([10, "0123456789"]);
  }
});

test("one source of a call is fetched after the other", async () => {
  const { sent, sources, begun, end } = open();
  const call = new WorkerCall({ type: "call", id: "e1", call: 1, name: "n", args: {} }, never, sources);
  const all = [call.fetch(0, never), call.fetch(1, never)];
  const first = await begun();
  await Promise.resolve();
  expect(sent.map(({ source }) => source)).toEqual([0]);
  end(first, { data: { size: 0 } });
  end(await begun(), { data: { size: 0 } });
  expect(sent.map(({ source }) => source)).toEqual([0, 1]);
  for (const bytes of await Promise.all(all)) bytes[Symbol.dispose]();
});

test.each([
  [
    "an error",
    { status: "error", error: { name: "LookupError", value: "no such source", traceback: "" } },
    "no such source",
  ],
  ["a different size", { data: { size: 4 } }, "a different size"],
  ["no size", {}, "a different size"],
  ["a wrong size", { data: { size: "3" } }, "a different size"],
])("a worker that answers with %s has sent nothing", async (_, fields, why) => {
  const { sources, begun, chunk, end } = open(3);
  for (let round = 0; round < 2; round += 1) {
    const fetched = sources.fetch(1, 0, never);
    const id = await begun();
    chunk(id, 0, "abc");
    end(id, fields);
    await expect(fetched).rejects.toThrow(why);
  }
});

test.each([
  ["more than there is space for", 0, "x".repeat(1_001), "take more than 1,000 bytes together"],
  ["bytes out of order", 3, "abc", "out of order"],
])("a worker that sends %s is told to stop, and what it still sends is dropped", async (_, at, text, why) => {
  const { sent, requests, sources, begun, chunk, end } = open();
  const fetched = sources.fetch(1, 0, never);
  const id = await begun();
  chunk(id, at, text);
  await expect(fetched).rejects.toThrow(why);
  expect(sent.at(-1)).toEqual({ id, cmd: "fetch-end", call: 1 });
  expect(chunk(id, at + text.length, "late")).toBe(true);
  expect(requests.sinkOf({ id, at: 0, bytes: 64 * 1024 * 1024 })).toBeUndefined(); // it goes on and on
  expect(end(id, { status: "error" })).toBe(true);
});

test("a worker that sends nothing for five minutes has failed, and one that goes on to do so is asked no more", async () => {
  const { sources, begun, chunk } = open();
  const slow = sources.fetch(1, 0, never);
  const id = await begun();
  await vi.advanceTimersByTimeAsync(250_000);
  chunk(id, 0, "abc");
  await vi.advanceTimersByTimeAsync(250_000);
  const settled = vi.fn();
  void slow.catch(settled);
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(50_000);
  await expect(slow).rejects.toThrow("the session sent nothing for 5 min 0 s");
  for (let round = 1; round < 64; round += 1) {
    const fetched = sources.fetch(1, 0, never);
    await begun();
    vi.advanceTimersByTime(300_000);
    await expect(fetched).rejects.toThrow("sent nothing");
  }
  await expect(sources.fetch(1, 0, never)).rejects.toThrow("does not send what its calls offer");
});

test("an aborted call and a lost worker end the fetching", async () => {
  const { requests, sources, begun } = open();
  const controller = new AbortController();
  const [first, second] = [sources.fetch(1, 0, controller.signal), sources.fetch(1, 1, controller.signal)];
  await begun();
  controller.abort(new Error("over"));
  await expect(first).rejects.toThrow("over");
  await expect(second).rejects.toThrow("over");
  await expect(sources.fetch(1, 2, controller.signal)).rejects.toThrow("over");
  const lost = sources.fetch(2, 0, never);
  await begun();
  requests.close();
  await expect(lost).rejects.toThrow("the worker was lost");
});

test("the files of one worker have a limit, since each takes a descriptor", async () => {
  const { sources, begun, end } = open();
  const fetch = async (): Promise<Disposable> => {
    const fetched = sources.fetch(1, 0, never);
    fetched.catch(() => {});
    if (files.length < 128) end(await begun(), { data: { size: 0 } });
    return fetched;
  };
  const files: Disposable[] = [];
  while (files.length < 128) files.push(await fetch());
  await expect(fetch()).rejects.toThrow("more than 128 values are being sent");
  files.pop()?.[Symbol.dispose]();
  files.push(await fetch());
  for (const file of files) file[Symbol.dispose]();
});
