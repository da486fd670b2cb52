import { execFileSync } from "node:child_process";
import { rmSync, truncateSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toContextItems, type Context } from "../../../src/rlm/context/context-items.ts";
import { describeItems, loadContext } from "../../../src/rlm/context/context.ts";
import { Folder } from "../../config/folder.ts";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";

const MIB = 2 ** 20;
let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

const load = (session: Session, context: Context): Promise<void> =>
  loadContext(session, toContextItems(context), new AbortController().signal);

/** The files of a folder under other names, in this order. */
const filesOf = (folder: Folder, names: readonly string[]): Context => ({
  files: names.map((name) => ({ name: `the ${name}`, path: folder.at(name) })),
});

describe("loadContext()", () => {
  test("makes a dict of files in their order, small and large, text and bytes", async () => {
    using folder = new Folder({ "z.txt": "zwölf\r\n", "a.txt": "", "even\nodder 😀 \\'\".txt": "odd" });
    folder.write("latin.txt", Buffer.from("caf\u00E9", "latin1"));
    folder.write("large.txt", "");
    truncateSync(folder.at("large.txt"), 16 * MIB + 1);
    folder.write("large.bin", Buffer.from([0xff]));
    truncateSync(folder.at("large.bin"), 16 * MIB + 1);
    const names = ["z.txt", "large.txt", "a.txt", "even\nodder 😀 \\'\".txt", "large.bin", "latin.txt"];
    await using session = await runtime.openSession();
    await load(session, filesOf(folder, names));
    expect(
      await valueOf(
        session,
        "import json; list(context) == json.loads(names)".replace(
          "names",
          JSON.stringify(JSON.stringify(names.map((name) => `the ${name}`))),
        ),
      ),
    ).toBe("True");
    expect(await valueOf(session, "[(type(one).__name__, len(one), one[:6]) for one in context.values()]")).toBe(
      String.raw`[('str', 7, 'zwölf\r'), ('str', 16777217, '\x00\x00\x00\x00\x00\x00'), ('str', 0, ''), ('str', 3, 'odd'), ('bytes', 16777217, b'\xff\x00\x00\x00\x00\x00'), ('bytes', 4, b'caf\xe9')]`,
    );
    expect(await valueOf(session, "[name for name in globals() if name.startswith('_rlm')]")).toBe("[]");
  });

  test("makes a text of a file, and bytes of one that is not UTF-8, however late that shows", async () => {
    using folder = new Folder({ "text.txt": "zwölf\r\n" });
    folder.write("late", Buffer.concat([Buffer.alloc(MIB, "a"), Buffer.from([0xe9])]));
    await using session = await runtime.openSession();
    await load(session, { text: { file: folder.at("text.txt") }, late: { file: folder.at("late") } });
    expect(await valueOf(session, "text, type(late).__name__, len(late), late[-2:]")).toBe(
      String.raw`('zwölf\r\n', 'bytes', 1048577, b'a\xe9')`,
    );
  });

  test("reads parts of files", async () => {
    using folder = new Folder({ all: "onetwothree" });
    const path = folder.at("all");
    const part = (name: string, offset: number, length: number) => ({ name, path, range: { offset, length } });
    await using session = await runtime.openSession();
    await load(session, { files: [part("2", 3, 3), part("1", 0, 3)] });
    expect(await valueOf(session, "context")).toBe("{'2': 'two', '1': 'one'}");
  });

  test("names the file that is gone, and waits for no pipe", async () => {
    using folder = new Folder({ "a.txt": "a", gone: "", pipe: "" });
    const [vanished, replaced] = [filesOf(folder, ["a.txt", "gone"]), filesOf(folder, ["a.txt", "pipe"])].map(
      (context) => toContextItems(context),
    );
    rmSync(folder.at("gone"));
    rmSync(folder.at("pipe"));
    execFileSync("mkfifo", [folder.at("pipe")]);
    await using session = await runtime.openSession();
    const { signal } = new AbortController();
    await expect(loadContext(session, vanished ?? [], signal)).rejects.toThrow(
      `Cannot load the context: '${folder.at("gone")}' cannot be read: there is no such file`,
    );
    await loadContext(session, replaced ?? [], signal);
    expect(await valueOf(session, "context")).toBe("{'the a.txt': 'a', 'the pipe': ''}");
    expect(() => toContextItems(filesOf(folder, ["pipe"]))).toThrow(
      `Cannot use '${folder.at("pipe")}' as context: it is not a file`,
    );
    expect(() => toContextItems({ file: folder.path })).toThrow("it is a folder");
  });

  test("loads many files in few batches", async () => {
    using folder = new Folder();
    const names = Array.from({ length: 400 }, (_, index) => `${index}.txt`);
    for (const name of names) folder.write(name, name);
    await using session = await runtime.openSession();
    const { executionCount: before } = await session.info();
    await load(session, filesOf(folder, names));
    expect((await session.info()).executionCount - before).toBe(1);
    expect(await valueOf(session, "all(name == f'the {text}' for name, text in context.items()), len(context)")).toBe(
      "(True, 400)",
    );
  });

  test("describes what was loaded", async () => {
    using folder = new Folder({ "b/x.md": "# Title", "a.py": "print()", "c.py": "" });
    const names = ["b/x.md", "a.py", "c.py"];
    const files = names.map((name) => ({ name, path: folder.at(name) }));
    const items = toContextItems({
      docs: { files, folder: "src" },
      records: {
        json: [
          { id: 1, tags: ["a", "b"] },
          { id: 2, tags: [] },
        ],
      },
      text: "one\ntwo",
    });
    await using session = await runtime.openSession();
    await loadContext(session, items, new AbortController().signal);
    expect(await describeItems(session, items, 2_000)).toBe(
      [
        '- `docs`: dict, 3 items, the files of the folder "src", 14 characters in all, 2 .py, 1 .md, the largest "b/x.md" has 7, keys "b/x.md", "a.py", "c.py"',
        `  is "{'b/x.md': '# Title', 'a.py': 'print()', 'c.py': ''}"`,
        '- `records`: list, 2 items, 2 characters in all, the largest has 2, each like {"id": int, "tags": [2 × str]}',
        `  is "[{'id': 1, 'tags': ['a', 'b']}, {'id': 2, 'tags': []}]"`,
        "- `text`: str, 7 characters",
        String.raw`  is "one\ntwo"`,
      ].join("\n"),
    );
  });

  test("ends with the reason of the signal", async () => {
    using folder = new Folder({ a: "a" });
    await using session = await runtime.openSession();
    const reason = new Error("enough");
    await expect(loadContext(session, toContextItems(filesOf(folder, ["a"])), AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });
});
