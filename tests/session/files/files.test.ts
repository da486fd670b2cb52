// The files of a session, in a real sandbox.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, valueOf, workFolderOf } from "../../open.ts";
import { reasonOf } from "../reason-of.ts";

const MIB = 2 ** 20;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("write and read", () => {
  test("transfer every byte", async () => {
    await using session = await runtime.openSession();
    const bytes = randomBytes(300_000);
    const entry = await session.files.write("data.bin", bytes);
    expect(entry).toEqual({
      name: "data.bin",
      path: "data.bin",
      type: "file",
      size: 300_000,
      modifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      mode: 0o644,
    });
    await valueOf(session, "open('copy.bin', 'wb').write(open('data.bin', 'rb').read())");
    expect((await session.files.read("copy.bin")).equals(bytes)).toBe(true);
  });

  test("text is written as UTF-8, and a file may be empty", async () => {
    await using session = await runtime.openSession();
    await session.files.write("text", "größe 🐍");
    expect(await valueOf(session, "open('text', encoding='utf-8').read()")).toBe("'größe 🐍'");
    await session.files.write("empty", "");
    expect((await session.files.read("empty")).length).toBe(0);
  });

  test("write() creates folders, keeps the permissions of a replaced file, and leaves nothing else behind", async () => {
    await using session = await runtime.openSession();
    await session.files.write("a/b/run.sh", "old");
    await valueOf(session, "import os; os.chmod('a/b/run.sh', 0o755)");
    expect(await session.files.write("a/b/run.sh", "new")).toMatchObject({ path: "a/b/run.sh", mode: 0o755, size: 3 });
    expect(await valueOf(session, "(open('a/b/run.sh').read(), os.listdir('a/b'))")).toBe("('new', ['run.sh'])");
  });

  test("a reader of the old content keeps it while the file is replaced", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "old");
    await valueOf(session, "f = open('f')");
    await session.files.write("f", "new");
    expect(await valueOf(session, "(f.read(), open('f').read())")).toBe("('old', 'new')");
  });

  test("a part of a file is read by offset and length", async () => {
    await using session = await runtime.openSession();
    await session.files.write("digits", "0123456789");
    const read = async (options: object): Promise<string> => (await session.files.read("digits", options)).toString();
    expect(await read({ offset: 3, length: 4 })).toBe("3456");
    expect(await read({ offset: 8, length: 100 })).toBe("89");
    expect(await read({ offset: 50 })).toBe("");
    expect(await read({ length: 0 })).toBe("");
  });

  test("more than maxBytes is refused before any transfer, but a part of the file is not", async () => {
    await using session = await runtime.openSession();
    await valueOf(session, `open('big', 'wb').truncate(${65 * MIB})`);
    expect(await reasonOf(session.files.read("big"))).toBe("too-large");
    expect(await reasonOf(session.files.read("big", { maxBytes: 10 }))).toBe("too-large");
    expect((await session.files.read("big", { offset: 64 * MIB, maxBytes: MIB })).length).toBe(MIB);
  });

  test("paths may be relative, absolute below the working directory, or contain `..` inside it", async () => {
    await using session = await runtime.openSession();
    const work = await workFolderOf(session);
    await session.files.write(`${work}/sub/f`, "1");
    for (const path of ["sub/f", "./sub/f", "sub/../sub//f", `${work}/./sub/f`]) {
      expect((await session.files.read(path)).toString()).toBe("1");
    }
    expect((await session.files.stat(work)).path).toBe(".");
  });

  test("a link to a target inside is followed, relative or absolute, also by write()", async () => {
    await using session = await runtime.openSession();
    await session.files.write("real/f", "1");
    await valueOf(
      session,
      "import os; os.symlink('real', 'folder'); os.symlink(os.path.abspath('real/f'), 'real/link')",
    );
    expect((await session.files.read("folder/link")).toString()).toBe("1");
    await session.files.write("folder/link", "2");
    expect(await valueOf(session, "(os.path.islink('real/link'), open('real/f').read())")).toBe("(True, '2')");
  });

  test("names that are not UTF-8, or hold a newline, are listed, read and removed", async () => {
    await using session = await runtime.openSession();
    await valueOf(session, String.raw`open(b'odd-\xff\xfe', 'w').write('x'); open('two\nlines', 'w').write('y')`);
    const { entries } = await session.files.list();
    expect(entries.map(({ name }) => name)).toEqual(["odd-\udcff\udcfe", "two\nlines"]);
    for (const { path } of entries) expect((await session.files.read(path)).length).toBe(1);
    await session.files.write("new-\udc80", "z");
    expect(await valueOf(session, String.raw`import os; os.path.exists(b'new-\x80')`)).toBe("True");
    for (const { path } of entries) await session.files.remove(path);
    expect(await valueOf(session, "len(os.listdir())")).toBe("1");
  });
});

describe("list, stat, makeFolder, rename, remove", () => {
  test("list() is sorted, describes each entry, and goes to the given depth", async () => {
    await using session = await runtime.openSession();
    await session.files.write("b/c/deep", "123");
    await session.files.write("a", "1");
    await valueOf(session, "import os; os.symlink('/etc/passwd', 'l'); os.mkfifo('p')");
    const shallow = await session.files.list();
    expect(shallow.omitted).toBe(0);
    expect(shallow.entries.map(({ name, type, size, target }) => [name, type, size, target])).toEqual([
      ["a", "file", 1, undefined],
      ["b", "folder", 0, undefined],
      ["l", "link", 0, "/etc/passwd"],
      ["p", "other", 0, undefined],
    ]);
    const deep = await session.files.list("b", { depth: 5 });
    expect(deep.entries.map(({ path }) => path)).toEqual(["b/c", "b/c/deep"]);
  });

  test("list() returns 10,000 entries and counts the omitted ones", async () => {
    await using session = await runtime.openSession();
    await valueOf(session, "for i in range(10_007): open(f'{i:05}', 'w')");
    const { entries, omitted } = await session.files.list();
    expect([entries.length, omitted, entries.at(-1)?.name]).toEqual([10_000, 7, "09999"]);
  });

  test("makeFolder() returns whether it created one", async () => {
    await using session = await runtime.openSession();
    expect(await session.files.makeFolder("x/y")).toBe(true);
    expect(await session.files.makeFolder("x/y")).toBe(false);
    expect(await session.files.makeFolder(".")).toBe(false);
    await session.files.write("f", "");
    expect(await reasonOf(session.files.makeFolder("f"))).toBe("exists");
  });

  test("rename() moves files and folders, creates parent folders, and replaces a file", async () => {
    await using session = await runtime.openSession();
    await session.files.write("from/f", "1");
    await session.files.write("g", "2");
    expect(await session.files.rename("from", "to/here")).toMatchObject({ path: "to/here", type: "folder" });
    expect(await session.files.rename("g", "to/here/f")).toMatchObject({ path: "to/here/f", size: 1 });
    expect((await session.files.read("to/here/f")).toString()).toBe("2");
    expect(await session.files.exists("from")).toBe(false);
    expect(await reasonOf(session.files.rename("absent", "new/x"))).toBe("not-found");
    expect(await session.files.exists("new")).toBe(false);
  });

  test("remove() removes a folder with its content, and a link without its target", async () => {
    await using session = await runtime.openSession();
    await session.files.write("keep/f", "1");
    await session.files.write("gone/deep/f", "1");
    await valueOf(session, "import os; os.symlink('../keep', 'gone/link'); os.symlink('keep', 'link')");
    await session.files.remove("gone");
    await session.files.remove("link");
    expect((await session.files.list(".", { depth: 3 })).entries.map(({ path }) => path)).toEqual(["keep", "keep/f"]);
  });

  test.each([
    ["read", "absent", "not-found"],
    ["read", "folder", "is-a-folder"],
    ["read", "file/below", "not-a-folder"],
    ["write", "folder", "is-a-folder"],
    ["write", "file/below", "not-a-folder"],
    ["write", ".", "is-a-folder"],
    ["list", "file", "not-a-folder"],
    ["list", "absent", "not-found"],
    ["stat", "absent", "not-found"],
    ["remove", "absent", "not-found"],
    ["remove", ".", "denied"],
    ["watch", "file", "not-a-folder"],
    ["makeFolder", "file/x", "not-a-folder"],
  ] as const)("%s of '%s' fails with reason %s", async (operation, path, reason) => {
    await using session = await runtime.openSession();
    await session.files.write("file", "1");
    await session.files.makeFolder("folder");
    const work = operation === "write" ? session.files.write(path, "x") : session.files[operation](path);
    expect(await reasonOf(work)).toBe(reason);
  });

  test("an invalid path or content is a TypeError or RangeError", async () => {
    await using session = await runtime.openSession();
    const wrong = session.files as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    for (const path of [7, null, undefined]) await expect(wrong["stat"]?.(path)).rejects.toThrow(TypeError);
    for (const path of ["", "x".repeat(5000), "half \ud800"]) {
      await expect(session.files.stat(path)).rejects.toThrow(RangeError);
    }
    await expect(wrong["write"]?.("f", 7)).rejects.toThrow(TypeError);
    await expect(session.files.read("f", { offset: -1 })).rejects.toThrow(RangeError);
    await expect(session.files.list(".", { depth: 0 })).rejects.toThrow(RangeError);
  });

  test("an error names the path, the action and the reason", async () => {
    await using session = await runtime.openSession();
    const error: unknown = await session.files.read("no/such").catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "FILE",
      path: "no/such",
      reason: "not-found",
      message: "Cannot read 'no/such': no such file or directory",
    });
  });
});
