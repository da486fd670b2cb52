import { createHash } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunNotFoundError } from "../../../src/errors.ts";
import { parseRunEvent } from "../../../src/protocol/run-events.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { RunLogWriter } from "../../../src/store/runs/run-log.ts";
import { followRun, readRun } from "../../../src/store/runs/run-log-reader.ts";
import {
  callEnd,
  callStart,
  numberer,
  openRuns,
  readAll,
  record,
  recorded,
  runEnd,
  runStart,
  smallRun,
  toRunId,
  type Bare,
} from "./recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");

test("an incomplete last line is skipped", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID));
  await record(events, ID, runs);
  const path = join(runs.folder, ID, "events.jsonl");
  truncateSync(path, readFileSync(path).length - 10);
  const run = await readRun(ID, runs);
  expect(await readAll(ID, runs.folder)).toEqual(events.slice(0, -1));
  expect(run.damagedLines).toBe(0);
});

test("lines that are no events, or too long, are skipped and counted", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID));
  await record(events.slice(0, 2), ID, runs);
  const path = join(runs.folder, ID, "events.jsonl");
  appendFileSync(path, `garbage\n[]\n{"type":1}\n\n"${"x".repeat(17 * 1024 * 1024)}"\n${JSON.stringify(events[2])}\n`);
  const run = await readRun(ID, runs);
  const types: string[] = [];
  for await (const { stored } of run.events()) types.push(stored.type);
  expect(types).toEqual(["run-start", "node-start", "step-start"]);
  expect(run.damagedLines).toBe(5);
});

test("the end of a run is read without the rest of its log", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID));
  const big = Array.from({ length: 3000 }, (_, at) => `item ${at}`);
  await record([...events.slice(0, -1), numberer(ID)(runEnd(ID, { data: big }))], ID, runs);
  const path = join(runs.folder, ID, "events.jsonl");
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, ["damaged ".repeat(100_000), ...lines.slice(1)].join("\n"));
  const run = await readRun(ID, runs);
  expect(await (await run.end())?.whole()).toMatchObject({ type: "run-end", result: { answer: "42", data: big } });
  expect(run.damagedLines).toBe(0);
  appendFileSync(path, '{"type":"run-e');
  expect(await run.end()).toBeUndefined();
  for (const [text, type] of [
    ["", undefined],
    ["\n", undefined],
    [`${"x".repeat(100_000)}\n`, undefined],
    [lines.at(-2), undefined],
    [`${lines.at(-2)}\n`, "run-end"],
    [`\n${lines.at(-2)}\n`, "run-end"],
    [`${lines.at(-2)}\n${lines.at(0)}\n`, undefined],
  ] as const) {
    writeFileSync(path, text ?? "");
    expect((await run.end())?.stored.type).toBe(type);
  }
});

test("an event with a field of the wrong type is refused", async () => {
  const known = new Set<string>();
  for (const event of smallRun(ID)) {
    known.add(event.type);
    expect(parseRunEvent(event)).toBe(event);
    for (const name of Object.keys(event).filter((key) => !["args", "result"].includes(key)))
      expect(parseRunEvent({ ...event, [name]: { wrong: true } }), `${event.type}.${name}`).toBeNull();
  }
  expect(known.size).toBe(15);
  expect(parseRunEvent({ type: "__proto__", runId: ID, seq: 1, time: 1 })).toBeNull();
});

test("followRun yields recorded events and then new ones, until the run has ended", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID));
  await using log = new RunLogWriter(ID, runs);
  for (const event of events.slice(0, 3)) log.write(event);
  await log.recordContext("context", { bytes: Buffer.from("x") }); // when it is there, so are they
  const seen: RunEvent[] = [];
  for await (const event of followRun(ID, runs)) {
    seen.push(await event.whole());
    const next = events[seen.length];
    if (seen.length >= 3 && next !== undefined) log.write(next);
  }
  expect(seen).toEqual(events);
});

test("followRun ends with a run that broke", async () => {
  using runs = openRuns();
  const events = recorded(smallRun(ID)).slice(0, 4);
  await record(events, ID, runs);
  const types: string[] = [];
  for await (const { stored } of followRun(ID, runs)) types.push(stored.type);
  expect(types).toEqual(events.map(({ type }) => type));
});

test("a run whose process is gone is broken, also where its process id was reused", async () => {
  using runs = openRuns();
  await using log = new RunLogWriter(ID, runs);
  log.write(numberer(ID)(runStart()));
  await log.recordContext("context", { bytes: Buffer.from("x") });
  const run = await readRun(ID, runs);
  expect(await run.summary()).toMatchObject({ status: "running" });
  const path = join(runs.folder, ID, "meta.json");
  const meta = JSON.parse(readFileSync(path, "utf8")) as { writer: object };
  for (const writer of [{ pid: 2 ** 22 + 1 }, { since: "1" }, { pid: -1 }, { host: 3 }]) {
    writeFileSync(path, JSON.stringify({ ...meta, writer: { ...meta.writer, ...writer } }));
    expect(await run.summary(), JSON.stringify(writer)).toMatchObject({ status: "broken" });
  }
});

test("followRun stops when its signal is aborted", async () => {
  using runs = openRuns();
  await using log = new RunLogWriter(ID, runs);
  log.write(numberer(ID)(runStart()));
  await log.recordContext("context", { bytes: Buffer.from("x") });
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    for await (const _ of followRun(ID, { ...runs, signal: stop.signal })) stop.abort();
  };
  await expect(follow()).rejects.toThrow("aborted");
});

test("a model call is found by node, step, ordinal and hash", async () => {
  using runs = openRuns();
  await record(smallRun(ID), ID, runs);
  const run = await readRun(ID, runs);
  const starts = smallRun(ID).filter((event) => event.type === "model-call-start");
  for (const start of starts) expect(await run.findCall(start)).toMatchObject({ callId: start.callId });
  const [first] = starts;
  if (first === undefined) throw new Error("there is no call");
  for (const other of [{ nodeId: "n9" }, { step: 2 }, { ordinal: 9 }, { requestHash: "0" }])
    expect(await run.findCall({ ...first, ...other })).toBeUndefined();
});

test("a call that has no end is not found", async () => {
  using runs = openRuns();
  const start = numberer(ID)(callStart({ nodeId: "n0", callId: "c1" }));
  await record([start], ID, runs);
  expect(await (await readRun(ID, runs)).findCall(start as Parameters<typeof callStart>[0] as never)).toBeUndefined();
});

test.each(["../elsewhere", "..", ".", "", "a/b", "/etc", "nobody"])("there is no run '%s'", async (id) => {
  using runs = openRuns();
  await expect(readRun(id, runs)).rejects.toThrow(RunNotFoundError);
});

test("links are not followed: neither to a run, nor to its blobs, nor to one of its files", async () => {
  using runs = openRuns();
  const observation = "long ".repeat(1000);
  const events = [{ type: "step-end", nodeId: "n0", step: 1, observation } as Bare].map(numberer(ID));
  await record(events, ID, runs);
  const [folder, outside] = [join(runs.folder, ID), join(runs.folder, "outside")];

  symlinkSync(folder, join(runs.folder, "r-link"));
  await expect(readRun("r-link", runs)).rejects.toThrow(RunNotFoundError);

  const digest = createHash("sha256").update(observation).digest("hex");
  renameSync(join(folder, "blobs", digest), outside);
  symlinkSync(outside, join(folder, "blobs", digest));
  await expect(readAll(ID, runs.folder)).rejects.toThrow("ELOOP");

  rmSync(join(folder, "blobs"), { recursive: true });
  symlinkSync(runs.folder, join(folder, "blobs"));
  await expect(readRun(ID, runs)).rejects.toThrow(RunNotFoundError);
  rmSync(join(folder, "blobs"));
  mkdirSync(join(folder, "blobs"));

  renameSync(join(folder, "events.jsonl"), outside);
  symlinkSync(outside, join(folder, "events.jsonl"));
  await expect(readAll(ID, runs.folder)).rejects.toThrow("ELOOP");
});

test.each(["../meta.json", "../../../etc/passwd", "", "a".repeat(63), "A".repeat(64), "0".repeat(64)])(
  "a reference to blob '%s' is refused",
  async (name) => {
    using runs = openRuns();
    const [event] = [{ type: "step-end", nodeId: "n0", step: 1, observation: "short" } as Bare].map(numberer(ID));
    await record([event as RunEvent], ID, runs);
    const line = { ...event, observation: { $blob: name, bytes: 3, head: "" } };
    writeFileSync(join(runs.folder, ID, "events.jsonl"), `${JSON.stringify(line)}\n`);
    await expect(readAll(ID, runs.folder)).rejects.toThrow(name === "0".repeat(64) ? "ENOENT" : RangeError);
  },
);

test("a blob that was changed is refused", async () => {
  using runs = openRuns();
  const observation = "long ".repeat(1000);
  await record([{ type: "step-end", nodeId: "n0", step: 1, observation } as Bare].map(numberer(ID)), ID, runs);
  writeFileSync(join(runs.folder, ID, "blobs", createHash("sha256").update(observation).digest("hex")), "another");
  await expect(readAll(ID, runs.folder)).rejects.toThrow("damaged");
});

test("messages that refer to a missing call are refused, the rest of the event is readable", async () => {
  using runs = openRuns();
  const messages = [{ role: "user", content: "Go." }];
  const number = numberer(ID);
  const events = [
    number(callStart({ nodeId: "n0", callId: "c1", messages })),
    number(callEnd({ nodeId: "n0", callId: "c1" })),
    number(callStart({ nodeId: "n0", callId: "c2", messages: [...messages, { role: "user", content: "On." }] })),
  ];
  await record(events, ID, runs);
  const path = join(runs.folder, ID, "events.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").split("\n").slice(1).join("\n"));
  const run = await readRun(ID, runs);
  for await (const event of run.events()) {
    if (event.stored.type !== "model-call-start") continue;
    await expect(event.whole()).rejects.toThrow("missing");
    expect(await event.withoutMessages()).toEqual({ ...events[2], messages: [] });
  }
});
