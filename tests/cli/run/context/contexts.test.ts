import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { gatherContext } from "../../../../src/cli/run/context/contexts.ts";
import { StdinFile } from "../../../../src/cli/run/context/stdin-file.ts";
import { UsageError } from "../../../../src/cli/options/usage-error.ts";
import { Folder } from "../../../config/folder.ts";

/** Names and paths without the folder of the test. */
async function gather(folder: Folder, ...names: string[]): Promise<{ context: unknown; skipped: string }> {
  await using input = new StdinFile();
  const { context, skipped } = await gatherContext(
    names.map((name) => folder.at(name)),
    input,
  );
  return { context: JSON.parse(JSON.stringify(context).replaceAll(`${folder.path}/`, "")) as unknown, skipped };
}

async function errorOf(folder: Folder, ...names: string[]): Promise<string> {
  const error: unknown = await gather(folder, ...names).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  return (error as Error).message.replaceAll(`${folder.path}/`, "");
}

const asFiles = (...names: string[]): unknown => ({ files: names.map((name) => ({ name, path: name })) });

test("one file is text, one .json file is its value, several are a dict of texts", async () => {
  using folder = new Folder({ "a.txt": "A", "b.json": '{"b": [1]}', "empty.txt": "" });
  expect(await gather(folder, "a.txt")).toEqual({ context: { file: "a.txt" }, skipped: "" });
  expect(await gather(folder, "b.json")).toEqual({ context: { text: '{"b": [1]}', as: "json" }, skipped: "" });
  expect(await gather(folder, "b.json", "a.txt")).toEqual({ context: asFiles("b.json", "a.txt"), skipped: "" });
  expect(await gather(folder, "empty.txt")).toEqual({ context: { file: "empty.txt" }, skipped: "" });
});

test("without --context there is no context", async () => {
  expect(await gatherContext([], new StdinFile())).toEqual({ context: undefined, skipped: "" });
});

test("a folder is read recursively, sorted, and skipped entries are counted", async () => {
  using folder = new Folder({
    "top/z.txt": "z",
    "top/B/b.md": "b",
    "top/a/x.py": "x",
    "top/.github/ci.yml": "ci",
    "top/.env": "KEY=secret",
    "top/.env.example": "KEY=",
    "top/id_rsa": "secret",
    "top/.git/HEAD": "ref",
    "top/node_modules/m/i.js": "i",
    "top/a/node_modules/m/i.js": "i",
  });
  folder.write("top/logo.png", Buffer.from([0x89, 0x50, 0, 1]));
  folder.write("top/latin1.txt", Buffer.from("caf\u00E9", "latin1"));
  symlinkSync("/etc", folder.at("top/etc"));
  expect(await gather(folder, "top")).toEqual({
    context: asFiles("top/.env.example", "top/.github/ci.yml", "top/B/b.md", "top/a/x.py", "top/z.txt"),
    skipped:
      "files that hold secrets by their names (2), .git folders (1), node_modules folders (2), links (1), files that are not UTF-8 text (2)",
  });
});

test("a folder with one file is a dict, too", async () => {
  using folder = new Folder({ "top/a.txt": "a" });
  expect((await gather(folder, "top")).context).toEqual(asFiles("top/a.txt"));
});

test("globs are expanded, and each file counts once", async () => {
  using folder = new Folder({ "logs/b.log": "b", "logs/a.log": "a", "logs/x/c.log": "c", "logs/d.txt": "d" });
  expect((await gather(folder, "logs/*.log")).context).toEqual(asFiles("logs/a.log", "logs/b.log"));
  expect((await gather(folder, "logs/b.log", "logs/**/*.log")).context).toEqual(
    asFiles("logs/b.log", "logs/a.log", "logs/x/c.log"),
  );
});

test("a file whose name looks like a glob takes precedence", async () => {
  using folder = new Folder({ "a[1].txt": "a", "a1.txt": "b" });
  expect((await gather(folder, "a[1].txt")).context).toEqual({ file: "a[1].txt" });
});

test("a missing file or one that is not text is an error", async () => {
  using folder = new Folder({ "a.txt": "a", "no.json": "{", "empty/.git/x": "" });
  folder.write("b.bin", Buffer.from([1, 0, 2]));
  expect(await errorOf(folder, "a.txt", "gone.txt")).toBe(
    "cannot take 'gone.txt' as context: there is no such file or folder",
  );
  expect(await errorOf(folder, "*.log")).toBe(
    "cannot take '*.log' as context: it matches no text files, only .git folders",
  );
  expect(await errorOf(folder, "empty")).toBe(
    "cannot take 'empty' as context: it has no text files, only .git folders",
  );
  expect(await errorOf(folder, "b.bin")).toBe(
    "cannot take 'b.bin' as context: it is not UTF-8 text. Convert it first, for instance with iconv",
  );
  expect(await errorOf(folder, "no.json")).toMatch(/^cannot use 'no\.json': it is not JSON: /);
});

test("standard input is saved in a file until it is disposed", async () => {
  const input = new StdinFile(Readable.from(["one\r\n", "two"]));
  const { file } = (await gatherContext(["-"], input)).context as { file: string };
  expect(readFileSync(file, "utf8")).toBe("one\r\ntwo");
  await input[Symbol.asyncDispose]();
  expect(existsSync(file)).toBe(false);
});

test("standard input can be combined with files, and cannot be named twice", async () => {
  using folder = new Folder({ "a.txt": "a" });
  await using input = new StdinFile(Readable.from(["x"]));
  const { context } = await gatherContext([folder.at("a.txt"), "-"], input);
  expect((context as { files: readonly { name: string }[] }).files.map(({ name }) => name)).toEqual([
    folder.at("a.txt"),
    "stdin",
  ]);
  await expect(gatherContext(["-", "-"], new StdinFile())).rejects.toThrow(UsageError);
});

test("standard input that is not text is refused", async () => {
  await using input = new StdinFile(Readable.from([Buffer.from([0])]));
  await expect(gatherContext(["-"], input)).rejects.toThrow(
    "cannot take standard input as context: it is not UTF-8 text. Convert it first, for instance with iconv",
  );
});
