import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { gatherContext } from "../../../../src/cli/run/context/contexts.ts";
import type { NamedFiles } from "../../../../src/cli/run/context/name-files.ts";
import { conversionOf } from "../../../../src/cli/run/context/not-text.ts";
import { StdinFile } from "../../../../src/cli/run/context/stdin-file.ts";
import { UsageError } from "../../../../src/cli/options/usage-error.ts";
import { Folder } from "../../../config/folder.ts";

/** Paths without the folder of the test. */
async function gather(folder: Folder, ...names: string[]): Promise<{ context: unknown; skipped: string }> {
  await using input = new StdinFile();
  const { context, skipped } = await gatherContext(
    names.map((name) => folder.at(name)),
    input,
  );
  const withoutSizes = JSON.stringify(context, (key, value: unknown) =>
    key === "size" || key === "content" ? undefined : value,
  );
  return {
    context: JSON.parse(withoutSizes.replaceAll(`${folder.path}/`, "")) as unknown,
    skipped: skipped.replaceAll(`${folder.path}/`, ""),
  };
}

/** The names that a model sees. */
async function namesOf(folder: Folder, ...names: string[]): Promise<readonly string[]> {
  const { context } = await gather(folder, ...names);
  return (context as { files: readonly { name: string }[] }).files.map(({ name }) => name);
}

async function errorOf(folder: Folder, ...names: string[]): Promise<string> {
  const error: unknown = await gather(folder, ...names).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  return (error as Error).message.replaceAll(`${folder.path}/`, "");
}

const asFiles = (...names: string[]): unknown => ({ files: names.map((name) => ({ name, path: name })) });
const inFolder = (folder: string, ...names: string[]): unknown => ({
  files: names.map((name) => ({ name, path: `${folder}/${name}` })),
  folder,
});

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
    context: inFolder("top", ".env.example", ".github/ci.yml", "B/b.md", "a/x.py", "z.txt"),
    skipped:
      "files that hold secrets by their names (2), .git folders (1), node_modules folders (2), links (1), files that are not text (2: top/latin1.txt, top/logo.png; convert them, e.g. iconv -f WINDOWS-1252 -t UTF-8 top/latin1.txt > top/latin1.txt.txt)",
  });
});

test("a folder with one file is a dict, too", async () => {
  using folder = new Folder({ "top/a.txt": "a" });
  expect((await gather(folder, "top")).context).toEqual(inFolder("top", "a.txt"));
});

test("globs are expanded, and each file counts once", async () => {
  using folder = new Folder({ "logs/b.log": "b", "logs/a.log": "a", "logs/x/c.log": "c", "logs/d.txt": "d" });
  expect((await gather(folder, "logs/*.log")).context).toEqual(inFolder("logs", "a.log", "b.log"));
  expect(await namesOf(folder, "logs/b.log", "logs/**/*.log")).toEqual(["b.log", "a.log", "x/c.log"]);
});

describe("files are named", () => {
  const files = { "src/a.ts": "a", "src/x/b.ts": "b", "docs/a.ts": "c", "docs/x/stdin": "d", "e.txt": "e" };

  test.each([
    [["src"], ["a.ts", "x/b.ts"]],
    [["src/"], ["a.ts", "x/b.ts"]],
    [["src/../src/."], ["a.ts", "x/b.ts"]],
    [["src/**/*.ts"], ["a.ts", "x/b.ts"]],
    [["{src,docs}/*.ts"], ["docs/a.ts", "src/a.ts"]],
    [
      ["src", "docs"],
      ["src/a.ts", "src/x/b.ts", "docs/a.ts", "docs/x/stdin"],
    ],
    [
      ["src/x", "docs/x"],
      ["src/x/b.ts", "docs/x/stdin"],
    ],
    [
      ["src", "src/x"],
      ["src/a.ts", "src/x/b.ts"],
    ],
    [
      ["src/x", "src"],
      ["src/x/b.ts", "src/a.ts"],
    ],
    [
      ["src/a.ts", "src/x/b.ts"],
      ["a.ts", "x/b.ts"],
    ],
    [
      ["src/*.ts", "docs/*.ts"],
      ["src/a.ts", "docs/a.ts"],
    ],
    [
      ["src", "e.txt"],
      ["src/a.ts", "src/x/b.ts", "e.txt"],
    ],
    [
      ["src", "src/a.ts"],
      ["src/a.ts", "src/x/b.ts"],
    ],
  ])("from what %j have in common", async (given, names) => {
    using folder = new Folder(files);
    expect(await namesOf(folder, ...given)).toEqual(names);
  });

  test("from the working folder, whose own name is given", async () => {
    using folder = new Folder(files);
    const before = process.cwd();
    process.chdir(folder.at("src"));
    try {
      const here = await gatherContext(["."], new StdinFile());
      expect(here.context).toMatchObject({ folder: "src", files: [{ name: "a.ts" }, { name: "x/b.ts" }] });
      const { context } = await gatherContext([".", "../docs/a.ts"], new StdinFile());
      expect((context as NamedFiles).files.map(({ name }) => name)).toEqual(["src/a.ts", "src/x/b.ts", "docs/a.ts"]);
    } finally {
      process.chdir(before);
    }
  });

  test("differently from standard input", async () => {
    using folder = new Folder(files);
    await using input = new StdinFile(Readable.from(["x"]));
    const { context } = await gatherContext(["-", folder.at("docs/x/stdin"), folder.at("docs/x")], input);
    expect((context as NamedFiles).files.map(({ name, size }) => [name, size])).toEqual([
      ["x/stdin", 1],
      ["stdin", 1],
    ]);
    await using again = new StdinFile(Readable.from(["yy"]));
    const both = (await gatherContext([folder.at("docs/x/stdin"), "-"], again)).context as NamedFiles;
    expect(both.files.map(({ name, size }) => [name, size])).toEqual([
      ["stdin", 1],
      ["stdin-2", 2],
    ]);
  });
});

test("links in circles, pipes and names that are not UTF-8 are counted, and none of them is waited for", async () => {
  using folder = new Folder({ "top/a.txt": "a", "top/even\nodder '😀.txt": "b" });
  symlinkSync(".", folder.at("top/again"));
  symlinkSync("other", folder.at("top/one"));
  symlinkSync("one", folder.at("top/other"));
  execFileSync("mkfifo", [folder.at("top/pipe")]);
  writeFileSync(Buffer.concat([Buffer.from(`${folder.at("top")}/`), Buffer.from([0x62, 0xff])]), "x");
  expect(await gather(folder, "top")).toEqual({
    context: inFolder("top", "a.txt", "even\nodder '😀.txt"),
    skipped: "links (3), things that are not files (1), files whose names are not UTF-8 (1)",
  });
  expect(await errorOf(folder, "top/pipe")).toBe(
    "cannot take 'top/pipe' as context: it is neither a file nor a folder",
  );
  expect(await errorOf(folder, "top/one")).toBe("cannot take 'top/one' as context: its links lead in a circle");
});

test("small files are read once, as far as they fit into memory", async () => {
  using folder = new Folder({ "top/a.txt": "a", "top/b.txt": "" });
  folder.write("top/large.txt", "x".repeat(64 * 1024 + 1));
  const { context } = await gatherContext([folder.at("top")], new StdinFile());
  const kept = (context as NamedFiles).files.map(({ name, content }) => [name, content?.toString()]);
  expect(kept).toEqual([
    ["a.txt", "a"],
    ["b.txt", ""],
    ["large.txt", undefined],
  ]);
});

test("a character may be cut at the end of what is looked at", async () => {
  using folder = new Folder();
  for (let before = 65_530; before < 65_538; before += 1) folder.write(`top/${before}`, `${"a".repeat(before)}é€😀b`);
  folder.write("top/late", Buffer.concat([Buffer.alloc(65_535, "a"), Buffer.from([0xff, 0x61])]));
  folder.write("top/early", Buffer.concat([Buffer.alloc(65_533, "a"), Buffer.from([0xff, 0x61, 0x61])]));
  const { context, skipped } = await gather(folder, "top");
  expect((context as NamedFiles).files).toHaveLength(8);
  expect(skipped).toContain("files that are not text (2: top/early, top/late");
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
  expect((context as NamedFiles).files.map(({ name }) => name)).toEqual(["a.txt", "stdin"]);
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
