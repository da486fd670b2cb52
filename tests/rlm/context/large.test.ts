// Contexts of the size that is promised, under the default limits.

/** @module-tag stress */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatherContext } from "../../../src/cli/run/context/contexts.ts";
import { StdinFile } from "../../../src/cli/run/context/stdin-file.ts";
import { Folder } from "../../config/folder.ts";
import { growthDuring } from "../../hostile/live-memory.ts";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted } from "../scripting.ts";

const GIB = 2 ** 30;
let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

/** A log of this many bytes, written by another program. */
function writeLog(path: string, bytes: number): string {
  execFileSync("sh", ["-c", 'yes "2026-11-19 INFO a line of a log" | head -c "$1" > "$0"', path, String(bytes)]);
  return path;
}

test("a gigabyte of text is loaded without memory of the host, and searched", async () => {
  using folder = new Folder();
  const file = writeLog(folder.at("log"), GIB);
  const rlm = scripted(runtime, [code("FINAL([len(context), context.count('INFO'), grep('INFO', context, limit=1)])")]);
  let data: unknown;
  const growth = await growthDuring(async () => {
    ({ data } = await rlm.run({ query: "?", context: { file } }).result);
  });
  expect(data).toEqual([GIB, GIB / 32, ["1: 2026-11-19 INFO a line of a log"]]);
  expect(growth).toBeLessThan(64);
});

test("a gigabyte in a folder of files is loaded", async () => {
  using folder = new Folder();
  const files = Array.from({ length: 64 }, (_, index) => {
    const name = `${index}.log`;
    return { name, path: writeLog(folder.at(name), GIB / 64) };
  });
  const rlm = scripted(runtime, [code("FINAL([len(context), sum(map(len, context.values()))])")]);
  expect((await rlm.run({ query: "?", context: { files } }).result).data).toEqual([64, GIB]);
});

test("three gigabytes are refused before anything is loaded", async () => {
  using folder = new Folder();
  const { why } = await scripted(runtime, []).run({
    query: "?",
    context: { file: writeLog(folder.at("log"), 3 * GIB) },
  }).result;
  expect(why).toContain('it takes 3.0 GiB of memory and a session has 2.0 GiB. Set more: memory = "5g" in [limits]');
});

test("100,000 files of a folder are found, loaded and described", async () => {
  using folder = new Folder();
  for (let group = 0; group < 500; group += 1) {
    mkdirSync(folder.at(`top/${group}`), { recursive: true });
    for (let index = 0; index < 200; index += 1)
      writeFileSync(folder.at(`top/${group}/${index}.txt`), `${group}/${index}`);
  }
  const { context, summary } = await gatherContext([folder.at("top")], new StdinFile());
  expect(summary).toMatch(/^100,000 files, /);
  const all = "all(name == f'{text}.txt' for name, text in context.items())";
  const run = scripted(runtime, [code(`FINAL([len(context), ${all}])`)]).run({
    query: "?",
    ...(context && { context }),
  });
  expect((await run.result).data).toEqual([100_000, true]);
});
