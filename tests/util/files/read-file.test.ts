import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { readFile, readHead, readRange } from "../../../src/util/files/read-file.ts";
import { Folder } from "../../config/folder.ts";

test.each([
  ["expected", 5],
  ["larger", 4],
  ["several times larger", 1],
  ["smaller", 9],
  ["not known", 0],
])("readFile() reads all of a file whose size is %s", async (_, expected) => {
  using folder = new Folder({ a: "12345" });
  expect((await readFile(folder.at("a"), expected, 100)).toString()).toBe("12345");
});

test("readFile() reads a file of the kernel, whose stated size is 0, and an empty file", async () => {
  expect(statSync("/proc/self/status").size).toBe(0);
  expect((await readFile("/proc/self/status", 0, 1e6)).toString()).toMatch(/^Name:[\s\S]*\n$/);
  using folder = new Folder({ empty: "" });
  expect(await readFile(folder.at("empty"), 0, 10)).toHaveLength(0);
});

test("readFile() refuses a file that has grown beyond the limit", async () => {
  using folder = new Folder({ a: "a".repeat(1000) });
  await expect(readFile(folder.at("a"), 10, 999)).rejects.toThrow("it grew while it was read");
});

test("readFile() and readHead() do not wait for a named pipe", async () => {
  using folder = new Folder();
  execFileSync("mkfifo", [folder.at("pipe")]);
  expect(await readFile(folder.at("pipe"), 5, 10)).toHaveLength(0);
  await expect(readHead(folder.at("pipe"), Buffer.alloc(5))).rejects.toThrow("ESPIPE");
});

test("readRange() reads a part, all of it or nothing", async () => {
  using folder = new Folder({ a: "12345" });
  expect((await readRange(folder.at("a"), 1, 3)).toString()).toBe("234");
  await expect(readRange(folder.at("a"), 3, 3)).rejects.toThrow("it shrank while it was read");
});

test("readHead() reads the beginning, and says how much there is", async () => {
  using folder = new Folder({ a: "12345" });
  const read = async (size: number): Promise<unknown> => {
    const { head, size: whole } = await readHead(folder.at("a"), Buffer.alloc(size));
    return [head.toString(), whole];
  };
  expect(await read(3)).toEqual(["123", 5]);
  expect(await read(10)).toEqual(["12345", 5]);
  expect(await read(5)).toEqual(["12345", 5]);
  await expect(readHead(folder.path, Buffer.alloc(1))).rejects.toThrow("EISDIR");
});
