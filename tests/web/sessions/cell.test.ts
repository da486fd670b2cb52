import { expect, test } from "vitest";
import type { ExecutionEvent, ExecutionId, ExecutionResult, SessionId } from "../../../src/client/index.ts";
import { CellModel } from "../../../web/src/state/sessions/console/cell.ts";

const base = { sessionId: "s1" as SessionId, executionId: "x1" as ExecutionId, seq: 1, time: 1_000 };
const result: ExecutionResult = {
  status: "ok",
  value: { "text/plain": "7" },
  stdout: "",
  stderr: "",
  state: "kept",
  truncated: null,
  sessionId: base.sessionId,
  executionId: base.executionId,
  executionCount: 3,
  epoch: 1,
  durationMs: 12,
  usage: { cpuMs: 1, peakMemoryBytes: 1_000 },
  displays: [],
};
const start: ExecutionEvent = { ...base, type: "execution-start", code: "x", executionCount: 3 };
const display = (part: Partial<Extract<ExecutionEvent, { type: "display" }>>): ExecutionEvent => ({
  ...base,
  type: "display",
  data: {},
  ...part,
});

function cellOf(...events: readonly ExecutionEvent[]): CellModel {
  const model = new CellModel("x1", { code: "x" });
  for (const event of events) model.apply(event);
  return model;
}

test("a cell waits, runs, and ends with its result", () => {
  const model = cellOf();
  expect(model.cell).toMatchObject({ state: "waiting", count: null });
  model.apply(start);
  expect(model.cell).toMatchObject({ state: "running", count: 3, startedAt: 1_000, result: null });
  model.apply({ ...base, type: "execution-end", result });
  expect(model.cell).toMatchObject({ state: "ok", durationMs: 12, result });
  expect(model.isOver).toBe(true);
});

test("a cell is the same object until something happens", () => {
  const model = cellOf(start);
  const before = model.cell;
  expect(model.cell).toBe(before);
  model.apply({ ...base, type: "output-delta", stream: "stdout", text: "a" });
  expect(model.cell).not.toBe(before);
});

test("input is asked for until somebody answers or the code ends", () => {
  const model = cellOf(start, { ...base, type: "input-start", call: 4, prompt: "who? ", password: true });
  expect(model.cell.input).toEqual({ call: 4, prompt: "who? ", isPassword: true });
  model.apply({ ...base, type: "input-end", call: 4, answered: true });
  expect(model.cell.input).toBeNull();
  const ended = cellOf(start, { ...base, type: "input-start", call: 4, prompt: "", password: false });
  ended.apply({ ...base, type: "execution-end", result });
  expect(ended.cell.input).toBeNull();
});

test("the line that the reader answered is shown after the prompt, whichever is known first", () => {
  for (const isKnownFirst of [true, false]) {
    const model = cellOf(start, { ...base, type: "output-delta", stream: "stdout", text: "who? " });
    model.apply({ ...base, type: "input-start", call: 4, prompt: "who? ", password: false });
    if (isKnownFirst) model.noteAnswer(4, "reader");
    model.apply({ ...base, type: "input-end", call: 4, answered: true });
    model.apply({ ...base, type: "output-delta", stream: "stdout", text: "Hello" });
    if (!isKnownFirst) model.noteAnswer(4, "reader");
    expect(model.cell.items).toMatchObject([{ text: "who? reader\nHello", bytes: 10 }]);
  }
});

test("no line is shown where nobody answered here, or another input was answered", () => {
  const model = cellOf(start);
  model.apply({ ...base, type: "input-start", call: 4, prompt: "", password: false });
  model.apply({ ...base, type: "input-end", call: 4, answered: true });
  model.noteAnswer(5, "reader");
  expect(model.cell.items).toMatchObject([{ text: "" }]);
});

test("an execution that was taken out of the queue has no number", () => {
  const model = cellOf();
  const { value: _, ...rest } = result;
  model.end({ ...rest, status: "interrupted", reason: "cancelled", executionCount: 0 });
  expect(model.cell).toMatchObject({ state: "interrupted", count: null });
});

test("displays are added, replaced by their ids and cleared; an update of an unknown one says so", () => {
  const model = cellOf(start, display({ data: { "text/plain": "1" }, displayId: "a" }));
  const shown = (): unknown[] => model.cell.items.map((item) => item.kind === "display" && item.data);
  expect(model.apply(display({ data: { "text/plain": "2" }, displayId: "a", update: true }))).toBe(true);
  expect(shown()).toEqual([{ "text/plain": "2" }]);
  expect(model.apply(display({ data: { "text/plain": "3" }, displayId: "b", update: true }))).toBe(false);
  model.apply(display({ data: { "text/plain": "4" }, clear: true }));
  expect(shown()).toEqual([{ "text/plain": "4" }]);
  model.apply(display({ clear: true }));
  expect(shown()).toEqual([]);
});

test("a placeholder keeps its place", () => {
  const model = cellOf(start, display({ displayId: "later" }), display({ data: { "text/plain": "below" } }));
  model.apply(display({ data: { "text/plain": "above" }, displayId: "later", update: true }));
  expect(model.cell.items.map((item) => item.kind === "display" && item.data["text/plain"])).toEqual([
    "above",
    "below",
  ]);
});

test("what the server dropped is a gap that cannot be loaded", () => {
  const model = cellOf(start, { ...base, type: "output-gap", stream: "stdout", omittedBytes: 5 });
  expect(model.cell.items).toMatchObject([{ kind: "gap", bytes: 5, offset: undefined }]);
  expect(model.output.missing).toBeUndefined();
});
