// Variables set from outside: exactly the given value, or nothing.

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session, VariableValue } from "../../internals.ts";
import { growthDuring } from "../../hostile/live-memory.ts";
import { countOpen } from "../../count-open.ts";
import { openTestRuntime } from "../../open.ts";

const MIB = 2 ** 20;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-set-")));
let runtime: Runtime;
let session: Session;

beforeAll(async () => {
  runtime = await openTestRuntime({ limits: { memoryBytes: 2048 * MIB } });
  session = await runtime.openSession({ includeStdlib: false });
  await session.execute("import hashlib, json").result;
});

afterAll(async () => {
  await runtime?.close();
  rmSync(folder, { recursive: true });
});

async function value(code: string): Promise<string | undefined> {
  const result = await session.execute(code).result;
  expect(result.error).toBeUndefined();
  return result.value?.["text/plain"];
}

describe("set() from JSON", () => {
  test("converts JSON to Python values", async () => {
    await session.set("x", { json: { a: [1, 2.5, -0.1, null, true, "é😀\u2028"], b: {} } });
    expect(await value("x")).toBe(String.raw`{'a': [1, 2.5, -0.1, None, True, 'é😀\u2028'], 'b': {}}`);
  });

  test("any JSON arrives as Python's parser reads it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (json) => {
        await session.set("x", { json });
        await session.set("t", { text: JSON.stringify(json) });
        expect(await value("x == json.loads(t) and repr(x) == repr(json.loads(t))")).toBe("True");
      }),
      { numRuns: 50 },
    );
  });

  test("JSON text is parsed by Python, digit for digit", async () => {
    await session.set("x", { text: "[12345678901234567890, 1.0, 1e400]", as: "json" });
    expect(await value("x")).toBe("[12345678901234567890, 1.0, inf]");
    await expect(session.set("x", { text: "[1,", as: "json" })).rejects.toThrow("Cannot set variable 'x'");
    expect(() => session.set("x", { text: "1", as: "yaml" as "json" })).toThrow("as must be 'text' or 'json'");
  });

  test("a large value arrives too", async () => {
    const json = Array.from({ length: 200_000 }, (_, index) => ({ index, text: "ü".repeat(index % 7) }));
    await session.set("x", { json });
    expect(await value("len(x), x[-1], sum(len(each['text']) for each in x)")).toBe(
      `(200000, {'index': 199999, 'text': '${"ü".repeat(199_999 % 7)}'}, ${json.reduce((sum, { text }) => sum + text.length, 0)})`,
    );
  });

  test("a value that is nested too deeply is refused, and the session goes on", async () => {
    await session.set("x", { json: "before" });
    const deep = JSON.parse(`${"[".repeat(1_500)}${"]".repeat(1_500)}`) as unknown;
    await expect(session.set("x", { json: deep })).rejects.toMatchObject({ code: "SESSION_STATE" });
    expect(await value("x")).toBe("'before'");
  });
});

describe("set() from text", () => {
  test.each([
    ["nothing", ""],
    ["one character", "é"],
    ["NUL and newlines", "a\0b\r\nc\u2028"],
    ["more than a line of the channel holds", "x😀é".repeat(100_000)],
    ["a surrogate pair at every edge", `${"y".repeat(256 * 1024 - 1)}😀${"z".repeat(300_000)}`],
  ])("%s", async (_, text) => {
    await session.set("t", { text });
    const digest = createHash("sha256").update(text, "utf8").digest("hex");
    expect(await value("type(t).__name__, hashlib.sha256(t.encode()).hexdigest()")).toBe(`('str', '${digest}')`);
  });
});

describe("set() from bytes and files", () => {
  test.each([0, 1, 65_535, 65_536, 65_537, MIB, MIB + 1, 5 * MIB + 3])("%d bytes arrive unchanged", async (size) => {
    const bytes = randomBytes(size);
    await session.set("b", { bytes });
    const digest = createHash("sha256").update(bytes).digest("hex");
    expect(await value("type(b).__name__, len(b), hashlib.sha256(b).hexdigest()")).toBe(
      `('bytes', ${size}, '${digest}')`,
    );
  });

  // Zeros take no disk space; the markers between them show that every byte is in order.
  test("a gigabyte arrives byte for byte, without taking memory of the host", { tags: "stress" }, async () => {
    const path = join(folder, "gigabyte");
    const [size, piece] = [1e9, randomBytes(10 * MIB)];
    const places = [0, 5e8 + 1, size - piece.length];
    const fd = openSync(path, "w");
    for (const place of places) writeSync(fd, piece, 0, piece.length, place);
    closeSync(fd);
    expect(await growthDuring(() => session.set("b", { file: path }))).toBeLessThan(64);
    const digest = createHash("sha256").update(piece).digest("hex");
    const digests = `[hashlib.sha256(b[at : at + ${piece.length}]).hexdigest() for at in (${places.join(", ")})]`;
    expect(await value(`len(b), set(${digests})`)).toBe(`(${size}, {'${digest}'})`);
    const zeros = piece.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
    expect(await value("b.count(0)")).toBe(String(size - 3 * (piece.length - zeros)));
    await session.execute("del b").result;
    rmSync(path);
  });

  test("a file as text", async () => {
    const path = join(folder, "text");
    writeFileSync(path, "zwölf\n".repeat(50_000));
    await session.set("t", { file: path, as: "text" });
    expect(await value("t == 'zwölf\\n' * 50_000")).toBe("True");
  });

  test("a file as JSON, read by Python", async () => {
    const path = join(folder, "json");
    writeFileSync(path, `{"n": 1${"0".repeat(30)}}`);
    await session.set("j", { file: path, as: "json" });
    expect(await value("j == {'n': 10 ** 30}")).toBe("True");
  });

  test("a file that is not UTF-8 is refused with the offset, and the variable is unchanged", async () => {
    const path = join(folder, "latin");
    writeFileSync(path, Buffer.concat([Buffer.from("a".repeat(70_000)), Buffer.from([0xe9]), Buffer.from("b")]));
    await session.set("t", { text: "before" });
    await expect(session.set("t", { file: path, as: "text" })).rejects.toThrow(
      "Cannot set variable 't' in session 's1': it is not UTF-8: byte 0xe9 at offset 70,000",
    );
    expect(await value("t")).toBe("'before'");
  });

  test.each([
    ["a character that is split", 700_000 - 1, "é"],
    ["four bytes that are split", 700_000 - 3, "😀"],
    ["wider characters at the end", 900_000, "€😀"],
  ])("a file as text, in blocks: %s", async (_, before, end) => {
    const path = join(folder, "blocks");
    const text = `${"a".repeat(before)}${end}b`;
    writeFileSync(path, text);
    await session.set("t", { file: path, as: "text" });
    expect(await value("len(t), hashlib.sha256(t.encode()).hexdigest()")).toBe(
      `(${Array.from(text).length}, '${createHash("sha256").update(text).digest("hex")}')`,
    );
  });

  test("a character that is cut off at the end of a file is refused", async () => {
    const path = join(folder, "cut");
    writeFileSync(path, Buffer.concat([Buffer.from("a".repeat(500_000)), Buffer.from("€").subarray(0, 2)]));
    await expect(session.set("t", { file: path, as: "text" })).rejects.toThrow("byte 0xe2 at offset 500,000");
  });

  test("a missing file, a folder and a named pipe are refused at once", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const [file, why] of [
      [join(folder, "absent"), `'${join(folder, "absent")}' cannot be read: there is no such file`],
      [folder, `'${folder}' is a folder`],
      [pipe, "is not a file"],
    ] as const) {
      await expect(session.set("x", { file })).rejects.toThrow(why);
    }
  });

  // Kernel files whose content is longer, or shorter, than their stated size.
  test.each([
    ["grew", "/proc/self/status"],
    ["shrank", "/sys/kernel/mm/transparent_hugepage/enabled"],
  ])("a file that %s while it is read sets nothing, and the channel stays in sync", async (what, file) => {
    await session.set("b", { text: "before" });
    await expect(session.set("b", { file })).rejects.toThrow(`it ${what} while it was read`);
    expect(await value("b")).toBe("'before'");
  });

  test("more than the session's memory is refused, and the session goes on", async () => {
    await using small = await runtime.openSession({ limits: { memoryBytes: 256 * MIB } });
    await expect(small.set("b", { bytes: Buffer.alloc(400 * MIB) })).rejects.toThrow("bytes do not fit");
    await small.set("b", { bytes: Buffer.from("fine") });
    expect((await small.execute("b").result).value).toEqual({ "text/plain": "b'fine'" });
  });

  test("a text is in memory once, and one that does not fit is refused, and the session goes on", async () => {
    await using small = await runtime.openSession({ limits: { memoryBytes: 64 * MIB } });
    const text = "a".repeat(36 * MIB);
    await small.set("t", { text });
    expect((await small.execute("len(t)").result).value).toEqual({ "text/plain": String(36 * MIB) });
    await expect(small.set("u", { text })).rejects.toThrow(
      `a text of ${(36 * MIB).toLocaleString("en-US")} bytes does not fit into the session's 67,108,864`,
    );
    await expect(small.set("u", { text: `${"a".repeat(4 * MIB)}😀` })).rejects.toThrow(
      /: with 4 bytes for each character it takes 16,\d{3},\d{3}$/,
    );
    expect((await small.execute("len(t)").result).value).toEqual({ "text/plain": String(36 * MIB) });
  });

  test("a gigabyte of text fits into the default memory", { tags: "stress" }, async () => {
    const path = join(folder, "gigabyte.txt");
    execFileSync("sh", ["-c", 'yes "a line of a log, neither long nor short" | head -c 1073741824 > "$0"', path]);
    await using fresh = await runtime.openSession();
    await fresh.set("t", { file: path, as: "text" });
    const { value: counted } = await fresh.execute("len(t), t.count('log')").result;
    expect(counted).toEqual({ "text/plain": `(1073741824, ${Math.ceil(1_073_741_824 / 40)})` });
    rmSync(path);
  });
});

describe("set()", () => {
  test("runs in the order of the queue", async () => {
    const first = session.execute("import time; time.sleep(0.1); x = 'code'");
    const set = session.set("x", { json: "set" });
    const last = session.execute("x");
    expect((await last.result).value).toEqual({ "text/plain": "'set'" });
    await set;
    expect((await first.result).status).toBe("ok");
  });

  test("is refused when the queue is full", async () => {
    await using busy = await openTestRuntime({ limits: { waiting: 2 } });
    await using other = await busy.openSession();
    const running = other.execute("import time; time.sleep(0.2)");
    const waiting = [other.set("x", { json: 1 }), other.set("x", { json: 2 })];
    await expect(other.set("x", { json: 3 })).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await Promise.all([running.result, ...waiting]);
    expect((await other.execute("x").result).value).toEqual({ "text/plain": "2" });
  });

  test("accepts any Python name, and normalizes it as Python does", async () => {
    await session.set("ﬁeld_ñ", { json: 1 });
    expect(await value("field_ñ")).toBe("1");
  });

  test.each(["", "1a", "a b", "a.b", "class", "None", "a\n", "a=1", "__debug__", "x".repeat(10) + "-"])(
    "refuses the name %j at once",
    (name) => {
      expect(() => session.set(name, { json: 1 })).toThrow(RangeError);
    },
  );

  test.each([
    ["a bigint", { json: 1n }],
    ["a function", { json: () => 1 }],
    ["undefined", { json: undefined }],
    ["half of a surrogate pair", { text: "\ud83d" }],
    ["two values", { json: 1, text: "x" }],
    ["no value", {}],
    ["bytes that are none", { bytes: "x" }],
  ])("refuses %s at once", (_, given) => {
    expect(() => session.set("x", given as unknown as VariableValue)).toThrow(TypeError);
  });

  test("never starts with an aborted signal", async () => {
    await session.set("x", { json: "before" });
    const controller = new AbortController();
    const busy = session.execute("import time; time.sleep(0.1)");
    const waiting = session.set("x", { json: "after" }, { signal: controller.signal });
    controller.abort(new Error("no longer"));
    await expect(waiting).rejects.toThrow("no longer");
    await busy.result;
    expect(await value("x")).toBe("'before'");
  });

  test.each<[string, (path: string, read: number) => boolean]>([
    ["it has only been opened", (path) => countOpen(path) > 0],
    ["half of it is on its way", (_, read) => read > 8 * MIB],
  ])("an aborted signal stops it when %s", async (_, isThere) => {
    await session.set("x", { json: "before" });
    const controller = new AbortController();
    const path = join(folder, "large");
    writeFileSync(path, "");
    truncateSync(path, 900 * MIB);
    const before = bytesRead();
    const set = session.set("x", { file: path }, { signal: controller.signal });
    while (!isThere(path, bytesRead() - before)) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("enough"));
    await expect(set).rejects.toThrow("enough");
    expect(await value("x")).toBe("'before'");
    rmSync(path);
  });
});

test("a session that is ended for its memory while a variable is set says so", async () => {
  const path = join(folder, "for memory");
  writeFileSync(path, "");
  truncateSync(path, 900 * MIB);
  await using other = await runtime.openSession({ includeStdlib: false });
  const before = bytesRead();
  const set = other.set("x", { file: path });
  while (bytesRead() - before < 8 * MIB) await new Promise((resolve) => setImmediate(resolve));
  other.freeMemory();
  const error = await set.then(
    () => new Error("it was set"),
    (thrown: Error) => thrown,
  );
  expect(error.message).toBe(`Cannot set variable 'x' in session '${other.id}': the session used too much memory`);
  expect(error.cause).toMatchObject({ name: "MemoryError" });
  rmSync(path);
});

/** Of this process, since its start. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
