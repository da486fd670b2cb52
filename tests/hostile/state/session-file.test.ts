// Hostile session files: damaged, forged, or written by a compromised worker. The host reads a manifest
// and a digest; everything else happens in a sandbox.

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  ftruncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const MIB = 2 ** 20;
const MAGIC = Buffer.from("RLM session file\n");
const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const folder = mkdtempSync(join(tmpdir(), "rlm-hostile-file-"));
const path = join(folder, "good.rlm");
const other = join(folder, "other.rlm");
let stage: OpenStage;
let good: Buffer;

beforeAll(async () => {
  stage = await openStage();
  await using session = await stage.runtime.openSession();
  await session.execute("def f(x):\n    return [x, 'text']\ndata = {'a': f(1), 'b': b'bytes' * 20}").result;
  await session.save(path);
  good = readFileSync(path);
});

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The parts of a valid file. */
function parts(): { readonly body: Buffer; readonly manifest: Record<string, unknown> } {
  const length = Number(good.readBigUInt64LE(good.length - 40));
  const end = good.length - 40 - length;
  const manifest = JSON.parse(good.toString("utf8", end, end + length)) as Record<string, unknown>;
  return { body: good.subarray(MAGIC.length, end), manifest };
}

/** A file with a valid digest and arbitrary content. */
function forge(body: Buffer, manifest: unknown): string {
  const json = Buffer.from(typeof manifest === "string" ? manifest : JSON.stringify(manifest));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const whole = Buffer.concat([MAGIC, body, json, length]);
  writeFileSync(other, Buffer.concat([whole, createHash("sha256").update(whole).digest()]));
  return other;
}

function record(kind: string, data: Buffer | string): Buffer {
  const bytes = Buffer.from(data as string);
  const header = Buffer.alloc(9);
  header.write(kind);
  header.writeBigUInt64LE(BigInt(bytes.length), 1);
  return Buffer.concat([header, bytes]);
}

/** A state with one variable, made by the attacker's pickle. */
function forgePickle(pickle: string): string {
  const end = JSON.stringify({ flags: 0, order: ["x"] });
  const body = Buffer.concat([record("P", "N."), record("V", "x"), record("P", pickle), record("E", end)]);
  return forge(body, parts().manifest);
}

/** Nothing is left over, and the sibling is unaffected. */
async function expectHarmless(sessions: number): Promise<void> {
  expect(stage.runtime.sessions.list()).toHaveLength(sessions);
  expect((await stage.sibling.execute("mark").result).value).toEqual({ "text/plain": "'untouched'" });
}

describe("a file that is not as it was written is refused before any worker sees it", () => {
  test("with one bit flipped, anywhere", async () => {
    for (let at = 0; at < good.length; at += 1) {
      const flipped = Buffer.from(good);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(other, flipped);
      await expect(stage.runtime.loadSession(other), `byte ${at}`).rejects.toMatchObject({ code: "SECURITY" });
    }
    await expectHarmless(1);
  });

  test("cut off, anywhere", { tags: "stress" }, async () => {
    for (let length = 0; length < good.length; length += 1) {
      writeFileSync(other, good.subarray(0, length));
      await expect(stage.runtime.loadSession(other), `${length} bytes`).rejects.toMatchObject({ code: "SECURITY" });
    }
    await expectHarmless(1);
  });

  test("with something before, after or in the middle", async () => {
    const extra = Buffer.from("extra");
    for (const at of [0, MAGIC.length, 100, good.length - 40, good.length - 32, good.length]) {
      writeFileSync(other, Buffer.concat([good.subarray(0, at), extra, good.subarray(at)]));
      await expect(stage.runtime.loadSession(other)).rejects.toMatchObject({ code: "SECURITY" });
    }
  });

  test.each([
    ["a manifest of 100 MB", 100_000_000n],
    ["a manifest of 2 to the power of 64", 2n ** 64n - 1n],
  ])("%s is not read", async (_, length) => {
    const fd = openSync(other, "w");
    writeSync(fd, MAGIC);
    ftruncateSync(fd, 200 * MIB);
    const trailer = Buffer.alloc(40);
    trailer.writeBigUInt64LE(length);
    writeSync(fd, trailer, 0, 40, 200 * MIB - 40);
    closeSync(fd);
    const before = process.memoryUsage().rss;
    await expect(stage.runtime.loadSession(other)).rejects.toThrow("its end is not one");
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * MIB);
  });

  test.each([
    ["no JSON", "{"],
    ["an array", "[]"],
    ["null", "null"],
    ["without names", { names: undefined }],
    ["with names that are numbers", { names: [1] }],
    ["with a name of a megabyte", { names: ["x".repeat(MIB)] }],
    ["with a million names", { names: Array.from({ length: 1_000_000 }, () => "x") }],
    ["with strange things skipped", { skipped: [{ name: "x" }] }],
    ["nested deeply", `{"format":2,"names":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["without a version of Python", { python: 3 }],
  ])("a manifest that is %s", async (_, change) => {
    const { body, manifest } = parts();
    const forged = forge(body, typeof change === "string" ? change : { ...manifest, ...change });
    await expect(stage.runtime.loadSession(forged)).rejects.toMatchObject({ code: "SECURITY" });
  });

  test("a file of a later format says so", async () => {
    const forged = forge(Buffer.alloc(0), { format: 3 });
    await expect(stage.runtime.loadSession(forged)).rejects.toThrow("it has format 3, and this version reads format 2");
  });

  test("another implementation of Python is named in the error, and no session is left", async () => {
    const { body, manifest } = parts();
    const forged = forge(body, { ...manifest, python: "3.10.2", implementation: "pypy" });
    await expect(stage.runtime.loadSession(forged, { id: "left" })).rejects.toThrow(
      /it was saved by pypy 3\.10, and this session runs Python 3\.\d+$/,
    );
    await expectHarmless(1);
  });

  test("a folder and a device are no session files", async () => {
    for (const target of [folder, "/dev/zero"]) {
      await expect(stage.runtime.loadSession(target)).rejects.toMatchObject({ code: "SECURITY" });
    }
  });
});

describe("a forged state with a right digest acts in its sandbox, and nowhere else", () => {
  test("os.system", async () => {
    const canary = join(folder, "canary");
    await using session = await stage.runtime.loadSession(
      forgePickle(`cos\nsystem\n(Vtouch ${canary}; touch inside\ntR.`),
    );
    expect(existsSync(canary)).toBe(false);
    expect((await session.execute("import os; os.path.exists('inside'), x").result).value).toEqual({
      "text/plain": "(True, 0)",
    });
  });

  test.each([
    ["os._exit", "cos\n_exit\n(I3\ntR."],
    ["a seed that is none", "crlm\nnothing\n."],
    ["a pickle that is none", "\x80\x05xyz"],
    ["an empty stack", "."],
    ["a memo that is not there", "h\x05."],
  ])("%s: an error, and no session", async (_, pickle) => {
    await expect(stage.runtime.loadSession(forgePickle(pickle))).rejects.toMatchObject({ code: "SESSION_STATE" });
    await expectHarmless(1);
  });

  test("what only fails is left out and listed", async () => {
    await using session = await stage.runtime.loadSession(forgePickle("crlm\ncode\n(Vxyz\nNtR."));
    expect(session.loaded).toMatchObject({ names: [], skipped: [{ name: "x" }] });
  });

  test("a loop without end is stopped at the limit", async () => {
    const forged = forgePickle("cbuiltins\nexec\n(Vwhile True: pass\ntR.");
    await expect(stage.runtime.loadSession(forged, { timeoutMs: 300 })).rejects.toThrow("it took longer than 300 ms");
    await expectHarmless(1);
  });

  test("an endless loop that ignores interrupts is killed", { tags: "stress" }, async () => {
    const code = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [2])\\u000awhile True: pass";
    const forged = forgePickle(`cbuiltins\nexec\n(V${code}\ntR.`);
    await expect(stage.runtime.loadSession(forged, { timeoutMs: 300 })).rejects.toThrow("it took longer than 300 ms");
    await expectHarmless(1);
  });

  test.each([
    ["a buffer of 2 to the power of 62", Buffer.concat([Buffer.from("B"), size(2n ** 62n)])],
    ["a piece of 2 to the power of 62", Buffer.concat([Buffer.from("P"), size(2n ** 62n), Buffer.from("N.")])],
    ["a name of 2 to the power of 62", Buffer.concat([record("P", "N."), Buffer.from("V"), size(2n ** 62n)])],
    ["an end that is none", Buffer.concat([record("P", "N."), record("E", "[]")])],
    ["nothing", Buffer.alloc(0)],
    ["records of an unknown kind", record("Z", "zzz")],
    ["a variable without a value", Buffer.concat([record("P", "N."), record("V", "x"), record("E", "{}")])],
  ])("%s", async (_, body) => {
    await expect(stage.runtime.loadSession(forge(body, parts().manifest))).rejects.toMatchObject({
      code: "SESSION_STATE",
    });
    await expectHarmless(1);
  });
});

/** A session in which pickling `x` runs the code, with the corpus helpers for talking to the host. */
async function withReduce(code: string, memoryBytes = 256 * MIB): Promise<Session> {
  const session = await stage.runtime.openSession({ limits: { memoryBytes } });
  const body = code.replace(/^/gm, "        ");
  const source = `${prelude}\nclass X:\n    def __reduce__(self):\n${body}\n        return str, ('made',)\nx = X()`;
  const { error } = await session.execute(source).result;
  expect(error).toBeUndefined();
  return session;
}

const chunk = (id: string, at: string, bytes: string): string =>
  `os.write(EVENTS, b'{"type":"chunk","id":"${id}","at":' + str(${at}).encode() + b',"bytes":' + str(${bytes}).encode() + b'}\\n')`;

describe("a worker that says what it likes while it saves", () => {
  test("bytes without end are broken off, and nothing is left on disk", { tags: "stress" }, async () => {
    await using session = await withReduce(
      `at = 0\nwhile True:\n    ${chunk("ask/1", "at", "1 << 20")}\n    left = 1 << 20\n    while left: left -= os.write(EVENTS, bytes(min(left, 65536)))\n    at += 1 << 20`,
      128 * MIB,
    );
    const target = join(folder, "endless", "x.rlm");
    await expect(session.save(target)).rejects.toThrow(/it has more than \d+ bytes/);
    expect(readdirSync(join(folder, "endless"))).toEqual([]);
    await expectHarmless(2);
  });

  test("bytes that begin again and again are broken off", async () => {
    await using session = await withReduce(
      `while True:\n    ${chunk("ask/1", "0", "1")}\n    os.write(EVENTS, b'x')\n    ${chunk("ask/1", "1", "1")}\n    os.write(EVENTS, b'y')`,
    );
    await expect(session.save(join(folder, "again.rlm"))).rejects.toThrow("it begins again and again");
    expect(existsSync(join(folder, "again.rlm"))).toBe(false);
  });

  test.each([
    ["for another command", chunk("ask/99", "0", "4")],
    ["for a name that every object has", chunk("__proto__", "0", "4")],
    ["that do not follow on", chunk("ask/1", "1000", "4")],
  ])("bytes %s are ignored, and the save is what it was", async (_, header) => {
    await using session = await withReduce(`${header}\nos.write(EVENTS, b'evil')`);
    const target = join(folder, "ignored.rlm");
    await session.save(target);
    await using loaded = await stage.runtime.loadSession(target);
    expect((await loaded.execute("x").result).value).toEqual({ "text/plain": "'made'" });
  });

  test.each([
    ["no bytes", chunk("ask/1", "0", "0")],
    ["more than a mebibyte", chunk("ask/1", "0", "(1 << 20) + 1")],
    ["a negative place", chunk("ask/1", "-1", "4")],
    ["half a byte", chunk("ask/1", "0", "0.5")],
  ])("a chunk of %s ends the worker", async (_, header) => {
    await using session = await withReduce(`${header}\nimport time\ntime.sleep(60)`);
    await expect(session.save(join(folder, "never.rlm"))).rejects.toThrow("the worker was lost");
    expect(existsSync(join(folder, "never.rlm"))).toBe(false);
    expect((await session.execute("1").result).value).toEqual({ "text/plain": "1" });
  });

  test.each([
    ["nonsense", `{"names": 5}`],
    ["nothing", `{}`],
    [
      "a list of strange things",
      `{"python": "3", "implementation": "c", "bytecode": "x", "names": [[]], "modules": [], "skipped": []}`,
    ],
  ])("a status with %s is refused, and nothing is kept; bytes after it are nobody's", async (_, answer) => {
    await using session = await withReduce(
      `line(b'{"type":"status","id":"ask/1","status":"ok","data":${answer}}')\n${chunk("ask/1", "0", "4")}\nos.write(EVENTS, b'late')`,
    );
    await expect(session.save(join(folder, "nonsense.rlm"))).rejects.toThrow("the worker sent an invalid reply");
    expect(existsSync(join(folder, "nonsense.rlm"))).toBe(false);
    expect((await session.execute("1").result).value).toEqual({ "text/plain": "1" });
  });

  test("a forged report can lie about the session's own file, which is then refused or loads in a sandbox", async () => {
    await using session = await withReduce(
      `line({"type": "status", "id": "ask/1", "status": "ok", "data": {"python": "9.9.9", "implementation": "c", "bytecode": "x", "names": ["lie"], "modules": [], "skipped": []}})`,
    );
    const target = join(folder, "lie.rlm");
    expect((await session.save(target)).names).toEqual(["lie"]);
    await expect(stage.runtime.loadSession(target)).rejects.toMatchObject({ code: "SESSION_STATE" });
  });

  test("ten thousand chunks that nobody asked for end the worker of an execution", { tags: "stress" }, async () => {
    await using session = await stage.runtime.openSession();
    const flood = `${prelude}\nb = b'{"type":"chunk","id":"x","at":0,"bytes":1}\\ny' * 1000\nfor i in range(20): os.write(EVENTS, b)\nimport time; time.sleep(60)`;
    const { status, reason } = await session.execute(flood).result;
    expect([status, reason]).toEqual(["interrupted", "worker-lost"]);
  });
});

test("the file of a save is its owner's alone", () => {
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

function size(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
