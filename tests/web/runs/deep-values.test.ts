// Values of events that are too deep or too large for their JSON to be written.

import { expect, test } from "vitest";
import { ServerConnectionError } from "../../../src/errors.ts";
import { toRunText } from "../../../web/src/state/runs/run-text.ts";
import { RunTexts } from "../../../web/src/state/runs/run-texts.ts";
import type { RunSource } from "../../../web/src/state/runs/run-source.ts";

function nested(depth: number): unknown {
  let value: unknown = "inside";
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

test("a value of any depth becomes a text of bounded size", () => {
  expect(toRunText({ a: [1, "b"] })).toEqual({ kind: "whole", text: '{\n  "a": [\n    1,\n    "b"\n  ]\n}' });
  for (const depth of [200, 3_000, 100_000]) {
    const text = toRunText(nested(depth));
    expect(text.kind).toBe("whole");
    expect(text.kind === "whole" ? text.text.length : 0).toBeLessThan(1_000_000);
  }
});

test("an event whose value is missing or damaged is shown with what there is", async () => {
  const reference = { $blob: "a".repeat(64), bytes: 10, head: "head", encoding: "json" };
  const event = { type: "tool-call-end", seq: 1, ok: true, result: reference };
  for (const blob of [async () => "[1, ", () => Promise.reject(new Error("there is none"))]) {
    const source = { events: async () => [event], blob } as unknown as RunSource;
    expect(await new RunTexts(source).event(1)).toMatchObject({ ok: true, result: reference });
  }
});

test("an event is not taken for damaged while the server is away", async () => {
  const away = new ServerConnectionError({ url: "http://127.0.0.1:8000", fault: "connection", why: "it is away" });
  const result = { $blob: "a".repeat(64), bytes: 10, head: "head", encoding: "json" };
  let blob = (): Promise<string> => Promise.reject(away);
  const source = { events: async () => [{ type: "tool-call-end", seq: 1, result }], blob: () => blob() };
  const texts = new RunTexts(source as unknown as RunSource);
  await expect(texts.event(1)).rejects.toBe(away);
  blob = async () => "[1]";
  expect(await texts.event(1)).toMatchObject({ result: [1] });
});
