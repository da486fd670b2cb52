// What V8 compiled of the program, kept in the data folder.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, afterEach, expect, test } from "vitest";
import { remove } from "../remove.ts";
import { rlm, type Ended } from "./program.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rlm-code-cache-"));
});
afterEach(() => remove(data));

const start = (): Promise<Ended> => rlm(["config", "show", "--json"], { env: { RLM_DATA: data } });

/** The files of all caches, and when they were written. */
function files(): Map<string, number> {
  const names = readdirSync(join(data, "code-cache"), { recursive: true, encoding: "utf8" });
  const paths = names.map((name) => join(data, "code-cache", name)).filter((path) => statSync(path).isFile());
  return new Map(paths.toSorted().map((path) => [path, statSync(path).mtimeMs]));
}

test("the first start writes it, the next one uses it", async () => {
  const first = await start();
  expect(first.code).toBe(0);
  const written = files();
  expect(written.size).toBeGreaterThan(3);
  expect(await start()).toEqual(first);
  expect(files()).toEqual(written);
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ["changed", (bytes) => Buffer.from(bytes.map((byte, index) => (index > bytes.length / 2 ? byte ^ 0x5a : byte)))],
  ["cut", (bytes) => bytes.subarray(0, bytes.length / 2)],
  ["empty", () => Buffer.alloc(0)],
])("a cache that was %s is replaced", async (_, damage) => {
  const first = await start();
  for (const file of files().keys()) writeFileSync(file, damage(readFileSync(file)));
  expect(await start()).toEqual(first);
  const repaired = files();
  expect(await start()).toEqual(first);
  expect(files()).toEqual(repaired);
});

test("a folder that others can write to is not used", async () => {
  await start();
  const [folder = ""] = readdirSync(join(data, "code-cache"));
  const path = join(data, "code-cache", folder);
  const before = files();
  for (const file of before.keys()) writeFileSync(file, "theirs");
  chmodSync(path, 0o777);
  expect((await start()).code).toBe(0);
  for (const file of files().keys()) expect(readFileSync(file, "utf8")).toBe("theirs");
});

test("a data folder that cannot be used costs nothing but the time", async () => {
  writeFileSync(join(data, "file"), "");
  expect(await rlm(["config", "show", "--json"], { env: { RLM_DATA: join(data, "file") } })).toMatchObject({ code: 0 });
});

test("caches of other builds and other versions of Node are kept up to a number", async () => {
  for (let index = 0; index < 12; index++) {
    const folder = join(data, "code-cache", `old-${index}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    utimesSync(folder, index, index);
  }
  await start();
  expect(readdirSync(join(data, "code-cache"))).toHaveLength(8);
  expect(existsSync(join(data, "code-cache", "old-11"))).toBe(true);
});
