import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StartJournal } from "../../../src/server/context/start-journal.ts";

let folder: string;
let problems: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-journal-"));
  problems = [];
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

const open = (options: { now?: () => number; maxBytes?: number } = {}): StartJournal =>
  StartJournal.open(folder, { onProblem: (why) => problems.push(why), ...options });
const files = (): string[] => readdirSync(folder).toSorted();
const NAME = "starts-0123456789abcdef.jsonl";

test("what one server starts is known to the next, with its id", () => {
  const first = open();
  first.begin("id task t1", "print", "t1");
  first.begin("key /v1/tasks secret-key", "other", null);
  first.end("key /v1/tasks secret-key", "t2");
  first.begin("failed", "f", null);
  first.cancel("failed");
  first.begin("crashed", "c", null);
  expect(first.earlier("id task t1")).toBeUndefined(); // this one knows it from memory
  first.close();
  const second = open();
  expect(second.earlier("id task t1")).toMatchObject({ fingerprint: "print", id: "t1" });
  expect(second.earlier("key /v1/tasks secret-key")).toMatchObject({ fingerprint: "other", id: "t2" });
  expect(second.earlier("failed")).toBeUndefined();
  expect(second.earlier("crashed")).toMatchObject({ id: null });
  expect(files()).toHaveLength(1);
  const [name = ""] = files();
  expect(readFileSync(join(folder, name), "utf8")).not.toContain("secret-key");
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(problems).toEqual([]);
});

test("two servers at once write to files of their own", () => {
  const [a, b] = [open(), open()];
  for (let n = 0; n < 100; n += 1) (n % 2 === 0 ? a : b).begin(`n${n}`, "f", `${n}`);
  a.close();
  b.close();
  const next = open();
  for (let n = 0; n < 100; n += 1) expect(next.earlier(`n${n}`)?.id).toBe(`${n}`);
});

test("entries count for a day, and old files are removed", () => {
  let now = Date.now();
  const first = open();
  first.begin("a", "f", "1");
  first.close();
  const second = open({ now: () => now });
  expect(second.earlier("a")).toBeDefined();
  now += 86_400_001;
  expect(second.earlier("a")).toBeUndefined();
  for (const name of files()) utimesSync(join(folder, name), 1_000, 1_000);
  expect(open().earlier("a")).toBeUndefined();
  expect(files()).toEqual([]);
});

test("a file that grew is compacted, and the latest entries stay", () => {
  const first = open({ maxBytes: 20_000 });
  for (let n = 0; n < 1_000; n += 1) first.begin(`n${n}`, "fingerprint", `${n}`);
  const [name = ""] = files();
  expect(files()).toHaveLength(1);
  expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(21_000);
  first.close();
  const second = open();
  expect(second.earlier("n999")?.id).toBe("999");
  expect(second.earlier("n0")).toBeUndefined();
});

test("a file that another server removed as old is made anew", () => {
  const first = open();
  first.begin("a", "f", "1");
  for (const name of files()) rmSync(join(folder, name));
  first.begin("b", "f", "2");
  first.close();
  expect(open().earlier("b")?.id).toBe("2");
  expect(problems).toEqual([]);
});

test("at most fifty files are kept, the latest ones", () => {
  for (let n = 0; n < 60; n += 1) {
    const path = join(folder, `starts-${String(n).padStart(16, "0")}.jsonl`);
    writeFileSync(path, "");
    utimesSync(path, Date.now() / 1000, Date.now() / 1000 - 60 + n);
  }
  open();
  expect(files()).toHaveLength(50);
  expect(files()).toContain(`starts-${String(59).padStart(16, "0")}.jsonl`);
});

test.each<[string, (path: string) => void, boolean]>([
  ["a pipe", (path) => void execFileSync("mkfifo", [path]), true],
  ["a link", (path) => symlinkSync("/etc/passwd", path), true],
  ["a folder", (path) => void execFileSync("mkdir", [path]), true],
  [
    "too large a file",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, 17 * 1024 * 1024);
    },
    true,
  ],
  ["garbage", (path) => writeFileSync(path, `\0\xff{"name":5}\n[]\nnull\n{"name":"x","at":"y"}\n{"na`), false],
])("%s in the place of a journal stops nothing", (_, make, isReported) => {
  const good = open();
  good.begin("a", "f", "1");
  good.close();
  make(join(folder, NAME));
  const journal = open();
  expect(journal.earlier("a")?.id).toBe("1");
  expect(problems.length > 0).toBe(isReported);
  journal.begin("b", "f", "2");
  journal.close();
  expect(open().earlier("b")?.id).toBe("2");
});

test("a folder that is gone is reported once, and stops nothing", () => {
  const journal = open();
  rmSync(folder, { recursive: true });
  journal.begin("a", "f", "1");
  journal.end("a", "2");
  journal.cancel("a");
  journal.begin("b", "f", "1");
  journal.close();
  expect(problems).toHaveLength(1);
  problems = [];
  expect(open().earlier("a")).toBeUndefined();
  expect(problems).toHaveLength(1);
  execFileSync("mkdir", [folder]);
});

test("what a server left while it made its file smaller is removed, but not at once", () => {
  const path = join(folder, `${NAME}.new`);
  writeFileSync(path, "");
  open();
  expect(files()).toEqual([`${NAME}.new`]);
  utimesSync(path, new Date(0), new Date(0));
  open();
  expect(files()).toEqual([]);
  expect(problems).toEqual([]);
});
