import { expect, test, vi } from "vitest";
import {
  ExecutionNotFoundError,
  type ExecutionId,
  type ExecutionResult,
  type HistoryEntry,
  type Runtime,
  type Session,
  type SessionEvent,
  type SessionId,
} from "../../../src/client/index.ts";
import { Console } from "../../../web/src/state/sessions/console/console.ts";

const sessionId = "s1" as SessionId;
const idOf = (id: string): ExecutionId => id as ExecutionId;
let seq = 0;
const stamp = (): { sessionId: SessionId; seq: number; time: number } => ({ sessionId, seq: (seq += 1), time: seq });
const start = (id: string, executionCount: number): SessionEvent => ({
  ...stamp(),
  type: "execution-start",
  executionId: idOf(id),
  code: `code of ${id}`,
  executionCount,
});
const print = (id: string, text: string): SessionEvent => ({
  ...stamp(),
  type: "output-delta",
  executionId: idOf(id),
  stream: "stdout",
  text,
});
const resultOf = (id: string, executionCount: number): ExecutionResult => ({
  status: "ok",
  stdout: "",
  stderr: "",
  state: "kept",
  truncated: null,
  sessionId,
  executionId: idOf(id),
  executionCount,
  epoch: 1,
  durationMs: 1,
  usage: { cpuMs: 1, peakMemoryBytes: 1 },
  displays: [],
});
const end = (id: string, count: number): SessionEvent => ({
  ...stamp(),
  type: "execution-end",
  executionId: idOf(id),
  result: resultOf(id, count),
});
const entry = (id: string, executionCount: number): HistoryEntry => ({
  executionId: idOf(id),
  executionCount,
  parent: executionCount - 1,
  code: `code of ${id}`,
  startedAt: new Date(0).toISOString(),
  status: "ok",
  durationMs: 1,
});

interface Server {
  readonly history: HistoryEntry[];
  /** By execution, what a replay tells. */
  readonly events: Map<string, SessionEvent[]>;
  /** By execution, what it printed. */
  readonly printed: Map<string, string>;
  readonly executed: string[];
  refusal: Error | undefined;
}

function openConsole(given: Partial<Server> = {}): { readonly console: Console; readonly server: Server } {
  const server: Server = {
    history: [],
    events: new Map(),
    printed: new Map(),
    executed: [],
    refusal: undefined,
    ...given,
  };
  const output = async (id: string, { offset = 0, length = 1 << 20 } = {}): Promise<object> => {
    const all = new TextEncoder().encode(server.printed.get(id) ?? "");
    const bytes = all.slice(offset, offset + length);
    return { bytes, offset, nextOffset: offset + bytes.length, totalBytes: all.length, readableBytes: all.length };
  };
  const session = {
    history: async () => server.history,
    execute: (code: string) => {
      server.executed.push(code);
      return {
        id: `mine${server.executed.length}`,
        output: async () => (server.refusal === undefined ? {} : Promise.reject(server.refusal)),
      };
    },
    output,
  };
  const executions = {
    get: (id: string) => ({
      async *[Symbol.asyncIterator]() {
        const events = server.events.get(id);
        if (events === undefined) throw new ExecutionNotFoundError({ executionId: id });
        yield* events;
      },
      // oxlint-disable-next-line unicorn/no-thenable -- as executions are
      then: (onResult: (result: ExecutionResult) => void) => onResult(resultOf(id, 1)),
    }),
  };
  let isDrawing = false;
  const frames = {
    request: (draw: () => void): void => {
      if (isDrawing) return;
      isDrawing = true;
      queueMicrotask(() => {
        isDrawing = false;
        draw();
      });
    },
  };
  const console = new Console({ executions } as unknown as Runtime, session as unknown as Session, frames);
  return { console, server };
}

const shownIn = (console: Console): string[] =>
  console.items.value.map((item) => {
    if (item.kind === "mark") return item.why;
    const text = item.cell.items.map((one) => (one.kind === "text" ? one.text : one.kind)).join("|");
    return `${item.key} ${item.cell.state}${text === "" ? "" : `: ${text}`}`;
  });

test("what ran before is above what runs now", async () => {
  const { console } = openConsole({ history: [entry("a", 1), entry("b", 2)] });
  console.receive(start("b", 2));
  console.receive(print("b", "live"));
  await console.readHistory(undefined);
  await vi.waitFor(() => expect(shownIn(console)).toEqual(["a ok", "b running: live"]));
});

test("where the history was left by a rewind, a mark says so", async () => {
  const { console } = openConsole({ history: [entry("a", 1), entry("b", 2), { ...entry("c", 3), parent: 1 }] });
  await console.readHistory(1);
  await vi.waitFor(() => expect(shownIn(console)).toEqual(["a ok", "b ok", "rewound", "c ok", "rewound"]));
});

test("a cell of the history is read once it is looked at", async () => {
  const { console } = openConsole({
    history: [entry("a", 1)],
    events: new Map([["a", [start("a", 1), print("a", "before"), end("a", 1)]]]),
  });
  await console.readHistory(undefined);
  console.read("a");
  console.read("a");
  await vi.waitFor(() => expect(shownIn(console)).toEqual(["a ok: before"]));
});

test("a cell that the server no longer keeps says so", async () => {
  const { console } = openConsole({ history: [entry("a", 1)] });
  await console.readHistory(undefined);
  console.read("a");
  await vi.waitFor(() => {
    const [item] = console.items.value;
    expect(item?.kind === "cell" && item.cell).toMatchObject({ state: "ok", loaded: "gone", code: "code of a" });
  });
});

test("output whose log was dropped is that of the result", async () => {
  const ended = { ...resultOf("a", 1), stdout: "kept\n", stderr: "" };
  const gap = { type: "output-gap", executionId: idOf("a"), omittedBytes: 5 } as const;
  const { console } = openConsole({
    history: [entry("a", 1)],
    events: new Map([
      [
        "a",
        [
          start("a", 1),
          { ...stamp(), ...gap, stream: "stdout" },
          { ...stamp(), type: "execution-end", executionId: idOf("a"), result: ended },
        ],
      ],
    ]),
  });
  await console.readHistory(undefined);
  console.read("a");
  await vi.waitFor(() => expect(shownIn(console)).toEqual(["a ok: kept\n"]));
});

test("long output is read at its beginning and its end, and the rest on request", async () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, line) => `line ${String(line).padStart(6, "0")} ${"x".repeat(40)}\n`,
  );
  const text = lines.join("");
  const events = [start("a", 1), ...lines.map((line) => print("a", line)), end("a", 1)];
  const { console } = openConsole({
    history: [entry("a", 1)],
    events: new Map([["a", events]]),
    printed: new Map([["a", text]]),
  });
  await console.readHistory(undefined);
  console.read("a");
  await vi.waitFor(() => expect(shownIn(console)[0]).toMatch(/^a ok: line 000000 [^]*\|gap\|[^]*line 019999 x+\n$/));
  const missing = (): number => {
    const [item] = console.items.value;
    const gap = item?.kind === "cell" ? item.cell.items.find(({ kind }) => kind === "gap") : undefined;
    return gap?.kind === "gap" ? gap.bytes : 0;
  };
  const before = missing();
  await console.readGap("a");
  await vi.waitFor(() => expect(missing()).toBe(before - 256 * 1024));
  for (let left = missing(); left > 0; left = missing()) {
    await console.readGap("a");
    await vi.waitFor(() => expect(missing()).toBeLessThan(left));
  }
  const [item] = console.items.value;
  const whole =
    item?.kind === "cell" ? item.cell.items.map((one) => (one.kind === "text" ? one.text : "")).join("") : "";
  expect(whole).toBe(text);
});

test("code that waits is below code that runs, whoever sent it", async () => {
  const { console, server } = openConsole();
  console.receive(start("other", 1));
  const mine = console.run("1 + 1");
  console.receive({ ...stamp(), type: "execution-queue", executionId: idOf("third"), code: "3", executionCount: 3 });
  console.receive(end("other", 1));
  console.receive(start("third", 2));
  await vi.waitFor(() => expect(shownIn(console)).toEqual(["other ok", "third running", `${mine} waiting`]));
  expect(server.executed).toEqual(["1 + 1"]);
});

test("a refusal is shown in the cell", async () => {
  const { console } = openConsole({ refusal: new Error("the session is busy") });
  console.run("1");
  await vi.waitFor(() => {
    const [item] = console.items.value;
    expect(item?.kind === "cell" && item.cell).toMatchObject({ state: "refused", problem: "the session is busy" });
  });
});

test("an update reaches a display of an earlier cell", async () => {
  const { console } = openConsole();
  const display = { type: "display", data: { "text/plain": "1" }, displayId: "bar" } as const;
  console.receive(start("a", 1));
  console.receive({ ...stamp(), ...display, executionId: idOf("a") });
  console.receive(end("a", 1));
  console.receive(start("b", 2));
  console.receive({ ...stamp(), ...display, data: { "text/plain": "2" }, update: true, executionId: idOf("b") });
  await vi.waitFor(() => {
    const [item] = console.items.value;
    expect(item?.kind === "cell" && item.cell.items).toMatchObject([{ kind: "display", data: { "text/plain": "2" } }]);
  });
});

test("marks stand where the namespace was replaced, and the end of the session ends what ran", async () => {
  const { console } = openConsole();
  console.receive(start("a", 1));
  console.receive(end("a", 1));
  console.receive({ ...stamp(), type: "session-reset", epoch: 2, why: "reset", checkpointId: null, head: 0 });
  console.receive(start("b", 2));
  console.receive({ ...stamp(), type: "session-end", why: "closed" });
  await vi.waitFor(() => expect(shownIn(console)).toEqual(["a ok", "reset", "b lost"]));
});

test("background output is apart", async () => {
  const { console } = openConsole();
  console.receive({ ...stamp(), type: "background-delta", stream: "stdout", text: "later" });
  await vi.waitFor(() => expect(console.background.value).toMatchObject([{ kind: "text", text: "later" }]));
  console.clearBackground();
  await vi.waitFor(() => expect(console.background.value).toEqual([]));
});

const show = (id: string, text: string): SessionEvent => ({
  ...stamp(),
  type: "display",
  executionId: idOf(id),
  data: { "text/plain": text },
});

test("the displays of all cells are limited together, the oldest make room, and what is gone is counted", async () => {
  const { console } = openConsole();
  const large = "x".repeat(10_000_000);
  for (let at = 0; at < 10; at += 1) {
    console.receive(start(`e${at}`, at));
    console.receive(show(`e${at}`, large));
    console.receive(end(`e${at}`, at));
  }
  await vi.waitFor(() => expect(console.items.value).toHaveLength(10));
  const kinds = console.items.value.map((item) => (item.kind === "cell" ? item.cell.items[0]?.kind : item.kind));
  expect(kinds).toEqual([...Array<string>(4).fill("gap"), ...Array<string>(6).fill("display")]);
});

test("marks are limited as cells are", async () => {
  const { console } = openConsole();
  for (let epoch = 1; epoch <= 3_000; epoch += 1)
    console.receive({ ...stamp(), type: "session-reset", epoch, why: "worker-lost" } as unknown as SessionEvent);
  await vi.waitFor(() => expect(console.items.value).toHaveLength(2_000));
});
