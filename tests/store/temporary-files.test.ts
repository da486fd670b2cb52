// What a process that is killed while it saves leaves beside the file, and who removes it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AtomicFile } from "../../src/store/atomic-file.ts";
import { removeAbandoned, temporaryName } from "../../src/store/temporary-files.ts";
import { startOfProcess } from "../../src/util/start-of-process.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-temporary-"));
  path = join(folder, "state.rlm");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The temporary name that another process would have. */
function nameOf(pid: number, since: string | null): string {
  return temporaryName(path).replace(/-\d+-\d+-(?=[0-9a-f]{12}\.tmp$)/, `-${pid}-${since}-`);
}

async function save(): Promise<void> {
  await new AtomicFile(path).commit();
}

test("the next save removes what a killed process left", async () => {
  const child = spawn("sleep", ["60"]);
  const left = nameOf(child.pid ?? 0, startOfProcess(child.pid ?? 0));
  writeFileSync(left, "partial");
  await save();
  expect(existsSync(left), "while its writer lives").toBe(true);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  await save();
  expect(readdirSync(folder)).toEqual(["state.rlm"]);
});

test("it is removed although another process has the number of its writer", async () => {
  writeFileSync(nameOf(process.pid, "1"), "partial");
  await save();
  expect(readdirSync(folder)).toEqual(["state.rlm"]);
});

test("files that this process writes stay", async () => {
  const own = temporaryName(path);
  writeFileSync(own, "partial");
  await save();
  expect(existsSync(own)).toBe(true);
});

test("those of another machine, container or boot stay for a day", async () => {
  const foreign = nameOf(1, "1").replace(/\.rlm-[0-9a-f]{8}-/, ".rlm-00000000-");
  writeFileSync(foreign, "partial");
  await save();
  expect(existsSync(foreign)).toBe(true);
  const then = Date.now() / 1000 - 25 * 3600;
  utimesSync(foreign, then, then);
  await save();
  expect(readdirSync(folder)).toEqual(["state.rlm"]);
});

test("links, folders and files of other names are never removed or followed", async () => {
  const target = join(folder, "precious");
  writeFileSync(target, "kept");
  symlinkSync(target, nameOf(process.pid, "1"));
  mkdirSync(nameOf(process.pid, "2"));
  for (const name of [".state.rlm.0123456789ab.tmp", "state.rlm-00000000-1-1-0123456789ab.tmp", ".x.rlm-1-1-1.tmp"])
    writeFileSync(join(folder, name), "kept");
  const before = readdirSync(folder);
  await removeAbandoned(folder);
  expect(readdirSync(folder)).toEqual(before);
});

test("a name of the greatest length leaves room for the temporary one", () => {
  const name = basename(temporaryName(join(dirname(path), "x".repeat(200))));
  expect(Buffer.byteLength(name.replace(/-\d+-(?=\d+-[0-9a-f]{12}\.tmp$)/, "-4194304-"))).toBeLessThanOrEqual(255);
});
