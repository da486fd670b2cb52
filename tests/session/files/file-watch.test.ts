// Watching the files of a session.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FileChange, FileWatch, Runtime } from "../../internals.ts";
import { begin, openTestRuntime, valueOf } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

describe("watch", () => {
  /** The next changes, as [type, path] or [type, path, from]. */
  async function take(changes: AsyncIterator<FileChange>, count: number): Promise<string[][]> {
    const taken: string[][] = [];
    while (taken.length < count) {
      const { value, done } = (await changes.next()) as IteratorResult<FileChange, undefined>;
      if (done) break;
      taken.push(value.type === "renamed" ? [value.type, value.path, value.from] : [value.type, value.path]);
    }
    return taken;
  }

  test("reports what is created, modified, renamed and removed, by code and from outside", async () => {
    await using session = await runtime.openSession();
    await using watch = await session.files.watch();
    await valueOf(
      session,
      "import os; f = open('a', 'w'); f.write('x'); f.close(); os.rename('a', 'b'); os.remove('b')",
    );
    await session.files.write("c", "1");
    await session.files.rename("c", "d");
    expect(await take(watch[Symbol.asyncIterator](), 6)).toEqual([
      ["created", "a"],
      ["modified", "a"],
      ["renamed", "b", "a"],
      ["removed", "b"],
      ["created", "c"],
      ["renamed", "d", "c"],
    ]);
  });

  test("recursive: also covers new folders, under their current names", async () => {
    await using session = await runtime.openSession();
    await session.files.makeFolder("old");
    await using watch = await session.files.watch(".", { recursive: true });
    const changes = watch[Symbol.asyncIterator]();
    await session.files.write("old/f", "1");
    expect(await take(changes, 1)).toEqual([["created", "old/f"]]);
    await session.files.makeFolder("new/deep");
    expect(await take(changes, 2)).toEqual([
      ["created", "new"],
      ["created", "new/deep"],
    ]);
    await session.files.rename("new", "moved");
    expect(await take(changes, 1)).toEqual([["renamed", "moved", "new"]]);
    await session.files.write("moved/deep/g", "1");
    expect(await take(changes, 1)).toEqual([["created", "moved/deep/g"]]);
  });

  test("files that are moved out are removed, and the watch ends with its folder", async () => {
    await using session = await runtime.openSession();
    await session.files.write("w/f", "1");
    const watch = await session.files.watch("w");
    await session.files.rename("w/f", "elsewhere");
    await session.files.remove("w");
    const seen: FileChange[] = [];
    for await (const change of watch) seen.push(change);
    expect(seen).toEqual([
      { type: "removed", path: "w/f" },
      { type: "removed", path: "w" },
    ]);
  });

  test("a reader that does not keep up gets an overflow", async () => {
    await using session = await runtime.openSession();
    await using watch = await session.files.watch();
    const code = "import os\nfor i in range(60_000): os.mkdir('x' * 100); os.rmdir('x' * 100)";
    await session.execute(code, { timeoutMs: null }).result;
    await session.files.write("end", "");
    let overflow: FileChange | undefined;
    let count = 0;
    for await (const change of watch) {
      count += 1;
      if (change.type === "overflow") overflow = change;
      if (overflow !== undefined && count > 100) break;
    }
    expect(overflow).toEqual({ type: "overflow", path: "." });
    expect(count).toBeLessThan(120_000);
  });

  test("ends with the session and with its loop, and then counts no more", async () => {
    const session = await runtime.openSession();
    const watches = await Promise.all(Array.from({ length: 8 }, () => session.files.watch()));
    await expect(session.files.watch()).rejects.toThrow("8 watches are open");
    const [first, ...others] = watches as [FileWatch, ...FileWatch[]];
    await session.files.write("f", "");
    for await (const change of first) {
      expect(change).toEqual({ type: "created", path: "f" });
      break;
    }
    await session.files.watch();
    const readers = others.map((watch) => watch[Symbol.asyncIterator]());
    for (const changes of readers) expect(await take(changes, 1)).toEqual([["created", "f"]]);
    const rest = readers.map((changes) => take(changes, 1));
    await session.close();
    expect(await Promise.all(rest)).toEqual(others.map(() => []));
  });

  test("survives an interrupt, a new worker and a reset, without delaying them", async () => {
    await using session = await runtime.openSession();
    await using watch = await session.files.watch();
    const running = await begin(session, "print('up', flush=True)\nwhile True: pass");
    session.interrupt();
    await running.result;
    await session.execute("import os; os._exit(1)").result;
    await session.reset();
    await valueOf(session, "open('after', 'w').close()");
    expect(await take(watch[Symbol.asyncIterator](), 1)).toEqual([["created", "after"]]);
  });
});
