import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { RunFiles } from "../../../src/store/runs/run-files.ts";
import { RunLogWriter } from "../../../src/store/runs/run-log.ts";
import { readRun } from "../../../src/store/runs/run-log-reader.ts";
import {
  callEnd,
  callStart,
  codeEnd,
  numberer,
  openRuns,
  readAll,
  record,
  recorded,
  runEnd,
  runStart,
  sizeOf,
  smallRun,
  STARTED,
  toRunId,
  type Bare,
} from "./recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");

test("events are read back as they were written, without deltas", async () => {
  using runs = openRuns();
  const events = smallRun(ID);
  await record(events, ID, runs);
  expect(await readAll(ID, runs.folder)).toEqual(recorded(events));
});

test("events in quick succession can be read in order while the run is in progress", async () => {
  using runs = openRuns();
  await using log = new RunLogWriter(ID, runs);
  const events = Array.from({ length: 600 }, () => callEnd({ nodeId: "n0", callId: "c1", text: "x" })).map(
    numberer(ID),
  );
  for (const event of events) {
    log.write(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await log.recordContext("context", { bytes: Buffer.from("x") }); // when it is recorded, so are they
  expect(await readAll(ID, runs.folder)).toEqual(recorded(events));
});

test("any events that are written are read back equal", { timeout: 60_000 }, async () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 3000 }),
    fc
      .array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 1500 })
      .map((codes) => String.fromCharCode(...codes)),
    fc.constantFrom("x".repeat(2048), "x".repeat(2049), "ü".repeat(1025), "\uD800".repeat(3000)),
  );
  const data = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.dictionary(fc.constantFrom("$blob", "$$blob", "$same", "__proto__", "plain"), text),
    fc.array(fc.string({ maxLength: 500 }), { minLength: 100, maxLength: 150 }),
  );
  const messages = fc.array(fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: text }), {
    maxLength: 4,
  });
  const bare: fc.Arbitrary<Bare> = fc.oneof(
    fc
      .record({ nodeId: fc.constantFrom("n0", "n1"), messages, purpose: fc.constantFrom("step", "query") })
      .map((call) =>
        callStart({ callId: `c${Math.random()}`, ...(call as object) } as Parameters<typeof callStart>[0]),
      ),
    text.map((said) => callEnd({ nodeId: "n0", callId: "c1", text: said, reasoning: said })),
    text.map((observation): Bare => ({ type: "step-end", nodeId: "n0", step: 1, observation })),
    text.map((stdout) => codeEnd("n0", 1, stdout)),
    data.map((args): Bare => ({ type: "tool-call-start", nodeId: "n0", callId: "t1", tool: "x", args })),
    data.map((result) => runEnd(ID, { data: result })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bare, { minLength: 1, maxLength: 12 }), async (list) => {
      using runs = openRuns();
      const events = list.map(numberer(ID));
      await record(events, ID, runs);
      expect(await readAll(ID, runs.folder)).toEqual(JSON.parse(JSON.stringify(events)));
    }),
    { numRuns: 40 },
  );
});

test("the first line has the version, and long texts are blobs with their beginning in the line", async () => {
  using runs = openRuns();
  const code = `# ${"long ".repeat(1000)}`;
  await record([runStart(), { type: "code-start", nodeId: "n0", step: 1, code } as Bare].map(numberer(ID)), ID, runs);
  const [first, second] = readFileSync(join(runs.folder, ID, "events.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const digest = createHash("sha256").update(code).digest("hex");
  expect(Object.keys(first ?? {})[0]).toBe("schemaVersion");
  expect(second).toEqual({
    runId: ID,
    seq: 2,
    time: STARTED + 2000,
    type: "code-start",
    nodeId: "n0",
    step: 1,
    code: { $blob: digest, bytes: code.length, head: code.slice(0, 200) },
  });
  expect(readFileSync(join(runs.folder, ID, "blobs", digest), "utf8")).toBe(code);
});

test("the folder is for its owner alone", async () => {
  using runs = openRuns();
  await record([runStart("?".repeat(5000))].map(numberer(ID)), ID, runs);
  const folder = join(runs.folder, ID);
  const modes = ["", "blobs", "events.jsonl", "meta.json", ...blobsOf(folder)].map(
    (name) => statSync(join(folder, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600]);
});

test("2 MB of context over 10 steps stay under 2.2 MB on disk", async () => {
  using runs = openRuns();
  const context = Buffer.from(Array.from({ length: 2_000_000 / 10 }, (_, n) => String(n).padStart(9, "0")).join("\n"));
  await using log = new RunLogWriter(ID, runs);
  await log.recordContext("context", { bytes: context });
  for (const event of longRun(10)) log.write(event);
  await log.close();
  expect(sizeOf(join(runs.folder, ID))).toBeLessThan(2_200_000);
});

test("a conversation adds only its new messages to the log, however many steps it has", async () => {
  using runs = openRuns();
  const sizes: number[] = [];
  for (const steps of [50, 100, 200]) {
    const id = toRunId(`r-${steps}`);
    await record(longRun(steps), id, runs);
    sizes.push(sizeOf(join(runs.folder, id)));
  }
  const [small = 0, middle = 0, large = 0] = sizes;
  expect((large - middle) / (middle - small)).toBeLessThan(2.2); // 2 where it grows with steps, 4 with their square
});

test("the same text is written once", async () => {
  using runs = openRuns();
  const observation = "again ".repeat(1000);
  const events = [1, 2, 3].map((step): Bare => ({ type: "step-end", nodeId: "n0", step, observation }));
  await record(events.map(numberer(ID)), ID, runs);
  expect(blobsOf(join(runs.folder, ID))).toHaveLength(1);
});

test("secrets are in no file, wherever they occurred", async () => {
  using runs = openRuns();
  const secret = "sk-verysecret-0123456789";
  const said = `the key is ${secret} ${"x".repeat(3000)}`;
  await using log = new RunLogWriter(ID, { ...runs, secrets: [secret, "short", ""] });
  const events: Bare[] = [
    runStart(said),
    callStart({ nodeId: "n0", callId: "c1", messages: [{ role: "user", content: said }] }),
    { type: "tool-call-start", nodeId: "n0", callId: "t1", tool: "x", args: { [secret]: [secret, said] } },
    codeEnd("n0", 1, said),
    runEnd(ID, { answer: said, data: { answer: secret } }),
  ];
  for (const event of events.map(numberer(ID))) log.write(event);
  const across = Buffer.concat([Buffer.alloc(1024 * 1024 - 5, "a"), Buffer.from(secret)]);
  await log.recordContext("context", { bytes: across });
  await log.recordContext(`of ${secret}`, { bytes: Buffer.from("short") });
  await log.close();
  const folder = join(runs.folder, ID);
  const files = ["events.jsonl", "meta.json", "contexts.jsonl", ...blobsOf(folder)];
  const all = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  expect(all).not.toContain(secret);
  expect(all).not.toContain("verysecret");
  expect(all).toContain("the key is [redacted] xxx");
  expect((await (await readRun(ID, runs)).contexts()).map(({ omitted }) => omitted)).toEqual(["secret", null]);
});

test.each([
  ["plain", "sk-0123456789"],
  ["with quotes and line ends", 'key "0123"\\\n456789'],
  ["with half of a character", "key-0123456789\uD83D"],
])("a secret %s is not in short model calls either", async (_, secret) => {
  using runs = openRuns();
  const said = `it is ${secret}\uDE00.`;
  const events = [
    runStart("?"),
    callStart({ nodeId: "n0", callId: "c1", purpose: "query", messages: [{ role: "user", content: said }] }),
    callEnd({ nodeId: "n0", callId: "c1", text: said, reasoning: said, error: said }),
  ].map(numberer(ID));
  await using log = new RunLogWriter(ID, { ...runs, secrets: [secret] });
  for (const event of events) log.write(event);
  await log.close();
  const [, start, end] = await readAll(ID, runs.folder);
  const kept = "it is [redacted]\uDE00.";
  expect(start).toEqual({ ...events[1], messages: [{ role: "user", content: kept }] });
  expect(end).toEqual({ ...events[2], text: kept, reasoning: kept, error: kept });
});

test("a context is recorded byte for byte, from memory or from a file", async () => {
  using runs = openRuns();
  const bytes = Buffer.from(Array.from({ length: 2_500_000 }, (_, n) => (n * n) % 256));
  writeFileSync(join(runs.folder, "context.bin"), bytes);
  await using log = new RunLogWriter(ID, runs);
  await log.recordContext("memory", { bytes });
  await log.recordContext("file", { path: join(runs.folder, "context.bin") });
  await log.recordContext("nothing", { bytes: Buffer.alloc(0) });
  const run = await readRun(ID, runs);
  const contexts = await run.contexts();
  expect(contexts.map(({ name, bytes: size, chunks }) => [name, size, chunks?.length])).toEqual([
    ["memory", bytes.length, 3],
    ["file", bytes.length, 3],
    ["nothing", 0, 0],
  ]);
  for (const context of contexts.slice(0, 2)) {
    const pieces: Buffer[] = [];
    for await (const piece of run.readContext(context)) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  }
});

test("a context that is too large is recorded by size and digest, and an unreadable one by name", async () => {
  using runs = openRuns();
  const bytes = Buffer.from("0123456789");
  await using log = new RunLogWriter(ID, { ...runs, contextBytes: 15 });
  await log.recordContext("first", { bytes });
  await log.recordContext("second", { bytes });
  await log.recordContext("gone", { path: join(runs.folder, "nowhere") });
  await log.recordContext("folder", { path: runs.folder });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  expect(await (await readRun(ID, runs)).contexts()).toEqual([
    { name: "first", bytes: 10, sha256, chunks: [sha256], omitted: null },
    { name: "second", bytes: 10, sha256, chunks: null, omitted: "size" },
    { name: "gone", bytes: null, sha256: null, chunks: null, omitted: "unreadable" },
    { name: "folder", bytes: null, sha256: null, chunks: null, omitted: "unreadable" },
  ]);
});

test("meta.json describes the run while it is in progress and after its end", async () => {
  using runs = openRuns();
  await using log = new RunLogWriter(ID, runs);
  const events = smallRun(ID);
  for (const event of events.slice(0, 3)) log.write(event);
  await log.recordContext("context", { bytes: Buffer.from("x") }); // when it is recorded, so are they
  const run = await readRun(ID, runs);
  expect(await run.summary()).toMatchObject({ status: "running", query: "How many?", ended: null, usage: null });
  for (const event of events.slice(3)) log.write(event);
  await log.close();
  expect(await run.summary()).toEqual({
    id: ID,
    query: "How many?",
    model: "big",
    subModel: "small",
    started: STARTED + 1000,
    ended: events.at(-1)?.time,
    status: "final",
    stopReason: "answered",
    usage: expect.objectContaining({ tokens: 360, costUsd: 0.0036 }) as unknown,
    wallMs: 8200,
    bytes: expect.any(Number) as unknown,
    lostEvents: 0,
  });
  expect(readdirSync(join(runs.folder, ID)).sort()).toEqual(["blobs", "contexts.jsonl", "events.jsonl", "meta.json"]);
});

test("a run that was closed without an end is broken", async () => {
  using runs = openRuns();
  await record(smallRun(ID).slice(0, 5), ID, runs);
  expect(await (await readRun(ID, runs)).summary()).toMatchObject({ status: "broken" });
});

test("a folder that disappears is reported once, and nothing throws", async () => {
  using runs = openRuns();
  const problems: string[] = [];
  await using log = new RunLogWriter(ID, { ...runs, onProblem: (why) => problems.push(why) });
  await log.recordContext("context", { bytes: Buffer.from("x") });
  rmSync(join(runs.folder, ID), { recursive: true });
  for (const event of longRun(3)) log.write(event);
  await log.recordContext("another", { bytes: Buffer.from("x") });
  for (const event of longRun(3)) log.write(event);
  await log.close();
  expect(problems).toEqual([expect.stringContaining("ENOENT")]);
});

test("a full disk is reported once, what was not recorded is counted, and nothing throws", async ({ skip }) => {
  if (!existsSync("/dev/full")) return skip("there is no /dev/full here");
  using runs = openRuns();
  const problems: string[] = [];
  const full = vi.spyOn(RunFiles.prototype, "append").mockImplementation(async () => writeFileSync("/dev/full", "x"));
  try {
    await record(smallRun(ID), ID, { ...runs, onProblem: (why) => problems.push(why) });
  } finally {
    full.mockRestore();
  }
  expect(problems).toEqual([
    `cannot write to ${runs.folder}: the disk is full. Free some space there, or set RLM_DATA to another folder`,
  ]);
  const lostEvents = recorded(smallRun(ID)).length;
  expect(await (await readRun(ID, runs)).summary()).toMatchObject({ status: "final", lostEvents });
});

test("a folder that cannot be created, or an id in use, is reported and does not throw", async () => {
  using runs = openRuns();
  writeFileSync(join(runs.folder, "file"), "");
  mkdirSync(join(runs.folder, ID));
  const problems: string[] = [];
  const onProblem = (why: string): number => problems.push(why);
  await record(smallRun(ID), ID, { folder: join(runs.folder, "file"), onProblem });
  await record(smallRun(ID), ID, { folder: runs.folder, onProblem });
  expect(problems).toEqual([
    `cannot write to ${join(runs.folder, "file")}: part of the path is a file. Set RLM_DATA to another folder`,
    "a run with this id is already recorded",
  ]);
});

test.each(["", ".", "..", "a/b", "../x", ".hidden", "a".repeat(129), "a\n"])("'%s' is no id of a run", (id) => {
  expect(() => new RunLogWriter(toRunId(id))).toThrow(RangeError);
});

test("an event with cyclic or unserialisable values is recorded without them", async () => {
  using runs = openRuns();
  const endless: Record<string, unknown> = {};
  endless["self"] = endless;
  const list = [endless, 2n ** 70n, { f: () => 1, u: undefined }, { d: new Date(0) }];
  const events = list.map((args): Bare => ({ type: "tool-call-start", nodeId: "n0", callId: "t1", tool: "x", args }));
  await record(events.map(numberer(ID)), ID, runs);
  const args = (await readAll(ID, runs.folder)).map((event) => (event as { args?: unknown }).args);
  expect(args).toEqual([
    "[not recorded: it is too deep, or has too many parts]",
    "1180591620717411303424",
    {},
    { d: "1970-01-01T00:00:00.000Z" },
  ]);
});

test("events beyond the queue limit are dropped and counted, except for the end of the run", async () => {
  using runs = openRuns();
  const problems: string[] = [];
  await using log = new RunLogWriter(ID, { ...runs, onProblem: (why) => problems.push(why) });
  const observation = "x".repeat(20 * 1024 * 1024);
  const steps = [1, 2, 3, 4, 5].map((step): Bare => ({ type: "step-end", nodeId: "n0", step, observation }));
  for (const event of [runStart(), ...steps, runEnd(ID)].map(numberer(ID))) log.write(event);
  await log.close();
  expect(problems).toEqual([expect.stringContaining("slower than the run")]);
  const run = await readRun(ID, runs);
  expect(await run.summary()).toMatchObject({ status: "final", lostEvents: 2 });
});

test("a log that is too large is not continued, which is reported once, except by the end of the run", async () => {
  using runs = openRuns();
  const problems: string[] = [];
  await using log = new RunLogWriter(ID, { ...runs, maxBytes: 100_000, onProblem: (why) => problems.push(why) });
  const number = numberer(ID);
  log.write(number(runStart()));
  for (let call = 0; call < 20; call += 1) {
    log.write(
      number(
        callStart({
          nodeId: "n0",
          callId: `c${call}`,
          messages: [{ role: "user", content: `${call}${"x".repeat(20_000)}` }],
        }),
      ),
    );
    await log.recordContext("nothing", { bytes: Buffer.alloc(0) }); // when it is recorded, so is the event
  }
  log.write(number(runEnd(ID)));
  await log.close();
  expect(problems).toEqual(["the run takes more than 97.7 KiB, so some of its events are left out"]);
  expect(await (await readRun(ID, runs)).summary()).toMatchObject({ status: "final", lostEvents: 15 });
  expect(sizeOf(runs.folder)).toBeLessThan(130_000);
});

/** Each step adds a reply and its observation, below the size of a blob and above it. */
function longRun(steps: number): RunEvent[] {
  const number = numberer(ID);
  const messages = [{ role: "system", content: "You have a REPL. ".repeat(200) }];
  const events: RunEvent[] = [number(runStart())];
  for (let step = 1; step <= steps; step += 1) {
    const text = `step ${step}: ${step % 2 === 0 ? "short" : `long ${step} `.repeat(300)}`;
    events.push(number(callStart({ nodeId: "n0", callId: `c${step}`, step, messages: [...messages] })));
    events.push(number(callEnd({ nodeId: "n0", callId: `c${step}`, text })));
    messages.push({ role: "assistant", content: text }, { role: "user", content: `output of step ${step}` });
    events.push(number({ type: "step-end", nodeId: "n0", step, observation: `output of step ${step}` }));
  }
  return [...events, number(runEnd(ID))];
}

function blobsOf(folder: string): string[] {
  return readdirSync(join(folder, "blobs")).map((name) => join("blobs", name));
}
