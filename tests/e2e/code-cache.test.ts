// What V8 compiled of the program, kept in the data folder.

/** @module-tag stress */

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, afterEach, expect, test } from "vitest";
import { remove } from "../remove.ts";
import { Program, rlm, start, type Ended } from "./program.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rlm-code-cache-"));
});
afterEach(() => remove(data));

const show = (): Promise<Ended> => rlm(["config", "show", "--json"], { env: { RLM_DATA: data } });

/** The files of all caches, and when they were written. */
function files(): Map<string, number> {
  const names = readdirSync(join(data, "code-cache"), { recursive: true, encoding: "utf8" });
  const paths = names.map((name) => join(data, "code-cache", name)).filter((path) => statSync(path).isFile());
  return new Map(paths.toSorted().map((path) => [path, statSync(path).mtimeMs]));
}

test("the first start writes it, the next one uses it", async () => {
  const first = await show();
  expect(first.code).toBe(0);
  const written = files();
  expect(written.size).toBeGreaterThan(3);
  expect(await show()).toEqual(first);
  expect(files()).toEqual(written);
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ["changed", (bytes) => Buffer.from(bytes.map((byte, index) => (index > bytes.length / 2 ? byte ^ 0x5a : byte)))],
  ["cut", (bytes) => bytes.subarray(0, bytes.length / 2)],
  ["empty", () => Buffer.alloc(0)],
])("a cache that was %s is replaced", async (_, damage) => {
  const first = await show();
  for (const file of files().keys()) writeFileSync(file, damage(readFileSync(file)));
  expect(await show()).toEqual(first);
  const repaired = files();
  expect(await show()).toEqual(first);
  expect(files()).toEqual(repaired);
});

test("code that was changed in place, by as many characters, is compiled again", async () => {
  const copy = join(data, "copy");
  cpSync(new URL("../../dist", import.meta.url), copy, { recursive: true });
  const wrong = async (): Promise<string> =>
    (await new Program(process.execPath, [join(copy, "cli.cjs"), "exce"], { env: { RLM_DATA: data } }).ended).stderr;
  expect(await wrong()).toContain("unknown command");
  const main = readdirSync(copy).find((name) => /^main-.*\.cjs$/.test(name)) ?? "";
  writeFileSync(
    join(copy, main),
    readFileSync(join(copy, main), "utf8").replaceAll("unknown command", "UNKNOWN command"),
  );
  expect(await wrong()).toContain("UNKNOWN command");
});

test("a cache that cannot be written changes neither the output nor the exit code", async () => {
  const code = "print('up', flush=True); input(); exit(3)";
  await using program = start(["exec", "-c", code], { env: { RLM_DATA: data }, stdin: null });
  await program.until(/up/);
  rmSync(join(data, "code-cache"), { recursive: true });
  writeFileSync(join(data, "code-cache"), "");
  program.write("\n");
  expect(await program.ended).toEqual({ code: 3, stdout: "up\n", stderr: "" });
});

test("compiled Python that a full disk has cut short is compiled again", async () => {
  const run = (): Promise<Ended> => rlm(["exec", "-c", "print(42)"], { env: { RLM_DATA: data } });
  await run();
  const names = readdirSync(join(data, "python-cache"), { recursive: true, encoding: "utf8" });
  const compiled = names.filter((name) => name.endsWith(".pyc")).map((name) => join(data, "python-cache", name));
  expect(compiled.length).toBeGreaterThan(20);
  for (const file of compiled) truncateSync(file, 30);
  expect(await run()).toEqual({ code: 0, stdout: "42\n", stderr: "" });
  expect(await run()).toEqual({ code: 0, stdout: "42\n", stderr: "" });
});

test("a folder that others can write to is not used", async () => {
  await show();
  const [folder = ""] = readdirSync(join(data, "code-cache"));
  const path = join(data, "code-cache", folder);
  const before = files();
  for (const file of before.keys()) writeFileSync(file, "theirs");
  chmodSync(path, 0o777);
  expect((await show()).code).toBe(0);
  for (const file of files().keys()) expect(readFileSync(file, "utf8")).toBe("theirs");
});

test("a data folder that cannot be used costs nothing but the time", async () => {
  writeFileSync(join(data, "file"), "");
  expect(await rlm(["config", "show", "--json"], { env: { RLM_DATA: join(data, "file") } })).toMatchObject({ code: 0 });
});

test("caches of other builds and other versions of Node are kept up to a number", async () => {
  mkdirSync(join(data, "code-cache", "somebody's"), { recursive: true, mode: 0o700 });
  for (let index = 0; index < 12; index++) {
    const folder = join(data, "code-cache", `${index}`.padStart(16, "0"));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    utimesSync(folder, index, index);
  }
  await show();
  const left = readdirSync(join(data, "code-cache"));
  expect(left).toHaveLength(9);
  expect(left).toEqual(expect.arrayContaining(["0000000000000011", "somebody's"]));
});
