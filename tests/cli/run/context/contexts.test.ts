import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { gatherContext } from "../../../../src/cli/run/context/contexts.ts";
import { conversionOf } from "../../../../src/cli/run/context/not-text.ts";
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
  return {
    context: JSON.parse(JSON.stringify(context).replaceAll(`${folder.path}/`, "")) as unknown,
    skipped: skipped.replaceAll(`${folder.path}/`, ""),
  };
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
  expect(await gatherContext([], new StdinFile())).toEqual({ context: undefined, summary: "", skipped: "" });
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
      "files that hold secrets by their names (2), .git folders (1), node_modules folders (2), links (1), files that are not text (2: top/latin1.txt, top/logo.png; convert them, e.g. iconv -f WINDOWS-1252 -t UTF-8 top/latin1.txt > top/latin1.txt.txt)",
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
    "cannot take '*.log' as context: it matches no text files, only .git folders (1)",
  );
  expect(await errorOf(folder, "empty")).toBe(
    "cannot take 'empty' as context: it has no text files, only .git folders (1)",
  );
  expect(await errorOf(folder, "b.bin")).toBe("b.bin is not text: convert it");
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
    "standard input is not text: convert it, e.g. with pdftotext or iconv",
  );
});

test("the summary says what the context is, and how large", async () => {
  using folder = new Folder({
    "a.txt": "a".repeat(2048),
    "b.json": "[1]",
    "logs/c.log": "c".repeat(1000),
    "logs/d.log": "d",
  });
  const summaryOf = async (names: readonly string[], input = new StdinFile()): Promise<string> => {
    const { summary } = await gatherContext(
      names.map((name) => (name === "-" ? name : folder.at(name))),
      input,
    );
    return summary.replaceAll(`${folder.path}/`, "");
  };
  expect(await summaryOf(["a.txt"])).toMatch(/a\.txt, 2 KiB$|…, 2 KiB$/);
  expect(await summaryOf(["b.json"])).toMatch(/, 3 bytes of JSON$/);
  expect(await summaryOf(["logs"])).toBe("2 files, 1,001 bytes");
  expect(await summaryOf(["a.txt", "logs", "logs/*.log"])).toBe("3 files, 3 KiB");
  await using input = new StdinFile(Readable.from(["one"]));
  expect(await summaryOf(["-"], input)).toBe("standard input, 3 bytes");
});

test.each([
  ["report.pdf", [0x25, 0x50, 0x44, 0x46, 0], "pdftotext report.pdf"],
  ["Annual Report.docx", [0x50, 0x4b, 3, 4, 0], "pandoc -t plain -o 'Annual Report.docx.txt' 'Annual Report.docx'"],
  ["sales.xlsx", [0x50, 0x4b, 3, 4, 0], "libreoffice --headless --convert-to csv sales.xlsx"],
  ["app.log.gz", [0x1f, 0x8b, 8, 0], "gunzip -k app.log.gz"],
  ["all.tar.gz", [0x1f, 0x8b, 8, 0], "tar -xf all.tar.gz"],
  ["caf\u00E9.txt", [0x63, 0xe9], "iconv -f WINDOWS-1252 -t UTF-8 'caf\u00E9.txt' > 'caf\u00E9.txt.txt'"],
  ["notes.txt", [0xff, 0xfe, 0x61, 0], "iconv -f UTF-16 -t UTF-8 notes.txt > notes.txt.txt"],
])("%s, which is not text, is refused with a command that converts it", async (name, bytes, command) => {
  using folder = new Folder();
  folder.write(name, Buffer.from(bytes));
  const message = await errorOf(folder, name);
  // The folder of the test may be quoted with the name.
  expect(message).toBe(`${name} is not text: convert it, e.g. ${command}`);
});

test.each([
  ["host:all.tgz", "tar -xf ./host:all.tgz"], // tar would connect to the host
  ["-x.pdf", "pdftotext ./-x.pdf"],
  ["$(x).pdf", "pdftotext '$(x).pdf'"],
  ["top/a:b.pdf", "pdftotext top/a:b.pdf"],
])("the command for %s takes its name for a file and nothing else", (name, command) => {
  expect(conversionOf(name, "binary")).toBe(command);
});

test("of many files that are not text the first names are given", async () => {
  using folder = new Folder({ "top/a.txt": "a" });
  for (let at = 1; at <= 5; at += 1) folder.write(`top/${at}.pdf`, Buffer.from([0]));
  expect((await gather(folder, "top")).skipped).toBe(
    "files that are not text (5: top/1.pdf, top/2.pdf, top/3.pdf, …; convert them, e.g. pdftotext top/1.pdf)",
  );
});
