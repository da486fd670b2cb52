// Contexts that do not fit into the memory of a session: the run says what to set, and asks no model.

import { truncateSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Context } from "../../../src/rlm/context/context-items.ts";
import { Folder } from "../../config/folder.ts";
import type { Runtime } from "../../internals.ts";
import type { RunResult } from "../../../src/protocol/runs.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted } from "../scripting.ts";

const MIB = 2 ** 20;
let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ limits: { memoryBytes: 96 * MIB } });
});
afterAll(() => runtime.close());

const run = (context: Context): Promise<RunResult> =>
  scripted(runtime, [code("FINAL(len(context))")]).run({ query: "?", context }).result;

/** A file of zeros, which take no space on the disk, with this at its end. */
function large(folder: Folder, name: string, size: number, end = ""): string {
  const path = folder.write(name, "");
  truncateSync(path, size);
  return end === "" ? path : folder.write(name, Buffer.concat([Buffer.alloc(size), Buffer.from(end)]));
}

const advice = (size: string): string =>
  `Set more: memory = "${size}" in [limits] of rlm.toml, --memory ${size}, or limits.memoryBytes in a program. No model was asked`;

test("a text that fits only once is loaded", async () => {
  using folder = new Folder();
  expect(await run({ file: large(folder, "a", 60 * MIB) })).toMatchObject({ status: "final", data: 60 * MIB });
});

test("a file that is too large is refused before it is loaded", async () => {
  using folder = new Folder();
  expect(await run({ file: large(folder, "a", 100 * MIB) })).toMatchObject({
    status: "failed",
    why: `Cannot load the context: it takes 116.0 MiB of memory and a session has 96.0 MiB. ${advice("192m")}`,
    usage: { total: { llmCalls: 0 } },
  });
});

test("what the widest character takes is said", async () => {
  using folder = new Folder();
  expect(await run({ file: large(folder, "a", 30 * MIB, "😀") })).toMatchObject({
    status: "failed",
    why: `Cannot load the context: it takes 166.0 MiB of memory, at 4 bytes for each character of 'context', and a session has 96.0 MiB. ${advice("256m")}`,
  });
});

test("files are added up", async () => {
  using folder = new Folder();
  const files = ["a", "b"].map((name) => ({ name, path: large(folder, name, 50 * MIB) }));
  expect((await run({ files })).why).toContain("it takes 116.0 MiB of memory and a session has 96.0 MiB");
});

test("what shows only when it is loaded is explained, too", async () => {
  const { why } = await run({ text: `[${"[],".repeat(4 * MIB)}1]`, as: "json" });
  expect(why).toBe(
    `Cannot load the context: the value of 12,582,915 bytes of JSON does not fit into the session's 100,663,296. ${advice("192m")}`,
  );
});

test("small files are not read twice to find out, so that it shows when they are loaded", async () => {
  using folder = new Folder();
  const named = (count: number, text: string): Context => ({
    files: Array.from({ length: count }, (_, name) => ({ name: String(name), path: folder.write("small", text) })),
  });
  expect((await run(named(60, "é".repeat(MIB / 2 - 1)))).status).toBe("final");
  expect((await run(named(140, "a".repeat(MIB - 1)))).why).toBe(
    `Cannot load the context: 140 files, 140.0 MiB, do not fit into the 96.0 MiB of memory of a session. ${advice("256m")}`,
  );
});

test("grep finds lines of a text that would not fit into memory beside its lines", async () => {
  using folder = new Folder();
  const file = folder.write("log", `${"a line of a log\n".repeat((40 * MIB) / 16)}the needle\nafter\n`);
  const search = code("FINAL(grep('needle', context, context=1) + grep('line', context, limit=1))");
  const { data } = await scripted(runtime, [search]).run({ query: "?", context: { file } }).result;
  expect(data).toEqual([`${(40 * MIB) / 16 + 1}: a line of a log\nthe needle\nafter`, "1: a line of a log"]);
});
