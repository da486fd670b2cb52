import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../../src/api/session.ts";
import { growthDuring } from "../../hostile/live-memory.ts";
import { collect, failureOf } from "../fakes/fake-server.ts";
import { openRemote, type Remote } from "./remote.ts";

const MIB = 1024 * 1024;
const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

let remote: Remote;
let session: Session;
beforeAll(async () => {
  remote = await openRemote();
  session = await remote.runtime.openSession();
});
afterAll(() => remote[Symbol.asyncDispose]());

describe("files", () => {
  test("are written from every kind of content, and read back", async () => {
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode("stre"));
        controller.enqueue("am");
        controller.close();
      },
    });
    async function* pieces(): AsyncGenerator<string | Uint8Array> {
      yield "it";
      yield Uint8Array.of(101, 114);
    }
    const contents = { text: "text", bytes: Uint8Array.of(1, 2), blob: new Blob(["blob"]), stream, iterable: pieces() };
    for (const [name, content] of Object.entries(contents)) await session.files.write(`kinds/${name}`, content);
    const read = async (name: string): Promise<string> => toText(await session.files.read(`kinds/${name}`));
    expect(await Promise.all(Object.keys(contents).map(read))).toEqual([
      "text",
      "\u0001\u0002",
      "blob",
      "stream",
      "iter",
    ]);
    const { entries } = await session.files.list("kinds");
    expect(entries.map(({ name, size }) => [name, size])).toEqual([
      ["blob", 4],
      ["bytes", 2],
      ["iterable", 4],
      ["stream", 6],
      ["text", 4],
    ]);
  });

  test.each([
    "plain.txt",
    "with space",
    "a#b?c&d=e",
    "100%25%",
    "ünï/日本/😀",
    "(a)'b'!*",
    "a\\b",
    "new\nline",
    "%2e%2e",
    "...",
    ".hidden",
    "\udcff\udc80x",
    "+",
    "a;b:c@d",
    '"quoted"',
  ])("have the exact name %j", async (name) => {
    const path = `names/${name}`;
    await session.files.write(path, name.length.toString());
    expect(toText(await session.files.read(path))).toBe(String(name.length));
    expect((await session.files.stat(path)).path).toBe(path);
    await session.files.remove(path);
    expect(await session.files.exists(path)).toBe(false);
  });

  test("paths are neither normalized nor confused on their way", async () => {
    await session.files.write("up/in/x", "1");
    expect(toText(await session.files.read("up/in/../in/x"))).toBe("1");
    expect(toText(await session.files.read("./up//in/./x"))).toBe("1");
    expect((await session.files.list("./up")).entries).toHaveLength(1);
    const folder = (await session.execute("import os; os.getcwd()")).text?.slice(1, -1) ?? "";
    expect(toText(await session.files.read(`${folder}/up/in/x`))).toBe("1");
    for (const path of ["..", "../x", "up/../../x", "/etc/passwd", "a\0b"]) {
      expect(await failureOf(session.files.read(path)), path).toMatchObject({ name: "REPLSecurityError" });
    }
    expect(() => session.files.read("\ud800")).toThrow(RangeError);
    expect((await session.files.stat(".")).type).toBe("folder");
  });

  test("fail with the errors of a local session", async () => {
    await session.files.write("there", "12345");
    await session.files.makeFolder("folder/");
    const { files } = session;
    const failures: [() => Promise<unknown>, string][] = [
      [() => files.read("nope"), "not-found"],
      [() => files.read("folder"), "is-a-folder"],
      [() => files.list("there"), "not-a-folder"],
      [() => files.write("folder", "x"), "is-a-folder"],
      [() => files.write("folder/", "x"), "is-a-folder"],
      [() => files.read("there", { maxBytes: 4 }), "too-large"],
      [() => files.remove("nope"), "not-found"],
      [() => files.rename("nope", "x"), "not-found"],
    ];
    for (const [call, reason] of failures) {
      expect(await failureOf(call()), reason).toMatchObject({ name: "FileError", reason });
    }
    expect(await files.makeFolder("folder")).toBe(false);
    expect(await files.makeFolder("other")).toBe(true);
    expect(await files.exists("there/below")).toBe(false);
  });

  test("are renamed and removed", async () => {
    await session.files.write("old name", "x");
    expect(await session.files.rename("old name", "deep/new name")).toMatchObject({ path: "deep/new name" });
    expect(await session.files.exists("old name")).toBe(false);
    await session.files.remove("deep");
    expect(await session.files.exists("deep")).toBe(false);
  });

  test("are read in parts", async () => {
    await session.files.write("digits", "0123456789");
    const part = async (options: object): Promise<string> => toText(await session.files.read("digits", options));
    expect(await part({ offset: 3 })).toBe("3456789");
    expect(await part({ offset: 3, length: 2 })).toBe("34");
    expect(await part({ offset: 10 })).toBe("");
    expect(await part({ length: 0 })).toBe("");
    expect(await part({ offset: 8, length: 100 })).toBe("89");
    await session.files.write("empty", "");
    expect((await session.files.read("empty")).length).toBe(0);
  });
});

describe("large files", () => {
  test("are sent and received without being held in memory", { tags: "stress" }, async () => {
    const total = Number(process.env["RLM_TEST_UPLOAD_MIB"] ?? 192);
    const piece = new Uint8Array(MIB).fill(7);
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < total; index += 1) yield piece;
    }
    const growth = await growthDuring(async () => {
      expect((await session.files.write("large", source())).size).toBe(total * MIB);
      let read = 0;
      for await (const chunk of session.files.readStream("large")) read += chunk.length;
      expect(read).toBe(total * MIB);
    });
    expect(growth).toBeLessThan(96);
    await session.files.remove("large");
  });

  test("an aborted upload leaves nothing, and its source is closed", async () => {
    const controller = new AbortController();
    let isClosed = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          yield new Uint8Array(64 * 1024);
          if (!controller.signal.aborted) setImmediate(() => controller.abort(new Error("enough")));
        }
      } finally {
        isClosed = true;
      }
    }
    const error = await failureOf(session.files.write("aborted", source(), { signal: controller.signal }));
    expect(error.message).toBe("enough");
    await expect.poll(() => isClosed).toBe(true);
    expect(await session.files.exists("aborted")).toBe(false);
    expect(
      (await session.files.list()).entries.map(({ name }) => name).filter((name) => name.includes("abort")),
    ).toEqual([]);
  });

  test("a source that fails fails the upload with its own error", async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10);
      throw new Error("the source broke");
    }
    expect((await failureOf(session.files.write("broken", source()))).message).toBe("the source broke");
    expect((await failureOf(session.set("x", { stream: source() }))).message).toBe("the source broke");
    expect(await session.files.exists("broken")).toBe(false);
  });

  test("a stream that was cut is not sent again, and says so; other content is", async () => {
    remote.proxy.onAnswer = () => {
      remote.proxy.onAnswer = undefined;
      return 0;
    };
    async function* source(): AsyncGenerator<string> {
      yield "once";
    }
    const error = await failureOf(session.files.write("cut", source()));
    expect(error).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
    expect(error.message).toMatch(/it was not sent again: try again with a new one$/);
    remote.proxy.onAnswer = () => {
      remote.proxy.onAnswer = undefined;
      return 0;
    };
    expect((await session.files.write("cut", new Blob(["again"]))).size).toBe(5);
  });

  test("a download continues after every cut, and notices a file that changed", { tags: "stress" }, async () => {
    const content = new Uint8Array(3 * MIB).map((_, index) => (index * 31) % 251);
    await session.files.write("long", content);
    let passed = 0;
    remote.proxy.onAnswer = (piece) => {
      passed += piece.length;
      if (passed < 300_000) return undefined;
      passed = 0;
      return Math.floor(piece.length / 2);
    };
    const chunks = await collect(session.files.readStream("long"));
    remote.proxy.onAnswer = undefined;
    expect(Buffer.compare(Buffer.concat(chunks), content)).toBe(0);
    expect(remote.warnings.length).toBeGreaterThan(3);

    await session.files.write("long", new Uint8Array(48 * MIB)); // more than the buffers between hold
    const reading = session.files.readStream("long")[Symbol.asyncIterator]();
    await reading.next();
    await session.files.write("long", new Uint8Array(4 * MIB));
    remote.proxy.cut();
    const rest = await failureOf(
      (async () => {
        while ((await reading.next()).done !== true);
      })(),
    );
    expect(rest).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
    expect(rest.message).toContain("the file may have changed since. Read it again");
  });
});

describe("a watch", () => {
  test("reports changes, and an overflow after a lost connection", async () => {
    await using watch = await session.files.watch(".", { recursive: true });
    const changes = watch[Symbol.asyncIterator]();
    await session.files.write("watched", "1");
    expect((await changes.next()).value).toMatchObject({ path: "watched" });
    const types: unknown[] = [];
    remote.proxy.cut();
    while (types.at(-1) !== "overflow") types.push(((await changes.next()).value as { type: string }).type);
    await watch.close();
    expect((await changes.next()).done).toBe(true);
  });

  test("ends with its session", async () => {
    const short = await remote.runtime.openSession();
    const watch = await short.files.watch();
    const all = collect(watch);
    await short.close();
    expect(await all).toEqual([]);
  });
});
