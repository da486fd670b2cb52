// Streaming the files of a session.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growthDuring } from "../../hostile/live-memory.ts";
import { REPLSecurityError, SessionClosedError, type Runtime } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { reasonOf } from "../reason-of.ts";

const MIB = 2 ** 20;

let runtime: Runtime;
let scratch: string;
beforeAll(async () => {
  runtime = await openTestRuntime();
  scratch = mkdtempSync(join(tmpdir(), "rlm-files-"));
});
afterAll(async () => {
  await runtime.close();
  rmSync(scratch, { recursive: true });
});

describe("streams", () => {
  test(
    "a file of the host is copied in and out byte for byte, without being held in memory",
    { tags: "stress" },
    async () => {
      await using session = await runtime.openSession();
      const source = join(scratch, "source");
      writeFileSync(source, randomBytes(MIB));
      truncateSync(source, 192 * MIB);
      const target = join(scratch, "target");
      const growth = await growthDuring(async () => {
        await session.files.writeFrom("big", source);
        expect(await session.files.readTo("big", target)).toEqual({ size: 192 * MIB });
      });
      expect(growth).toBeLessThan(64);
      expect(readFileSync(target).equals(readFileSync(source))).toBe(true);
      rmSync(source);
      rmSync(target);
    },
  );

  test("a stalled source is given up when the call is aborted or the session closes", async () => {
    const session = await runtime.openSession();
    async function* stalls(then: () => unknown): AsyncGenerator<string> {
      yield "a";
      then();
      await new Promise(() => {});
    }
    const controller = new AbortController();
    const abort = (): void => controller.abort(new Error("enough"));
    await expect(session.files.write("f", stalls(abort), { signal: controller.signal })).rejects.toThrow("enough");
    expect((await session.files.list()).entries).toEqual([]);
    const close = (): unknown => void session.close();
    await expect(session.files.write("f", stalls(close))).rejects.toThrow(SessionClosedError);
  });

  test("writeFrom() refuses a named pipe without waiting for a writer", async () => {
    await using session = await runtime.openSession();
    const pipe = join(scratch, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reasons = { [pipe]: "not-a-file", [scratch]: "is-a-folder", [join(scratch, "none")]: "not-found" };
    for (const [path, reason] of Object.entries(reasons)) {
      await expect(session.files.writeFrom("f", path)).rejects.toMatchObject({ code: "FILE", path, reason });
    }
    await expect(session.files.writeFrom("../f", import.meta.filename)).rejects.toThrow(REPLSecurityError);
  });

  test("open() returns size and time before the first piece, also through links, and can be closed unread", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "0123456789");
    await valueOf(session, "import os; os.symlink('f', 'link'); os.utime('f', (1, 1))");
    const file = await session.files.open("link", { offset: 4 });
    expect(file).toMatchObject({ size: 10, modifiedAt: "1970-01-01T00:00:01.000Z" });
    expect(await text(file.pieces)).toBe("456789");
    // More than may be open at once.
    for (let count = 0; count < 20; count += 1) (await session.files.open("f")).close();
    expect(await reasonOf(session.files.open("."))).toBe("is-a-folder");
    expect(await reasonOf(session.files.open("none"))).toBe("not-found");
  });

  test("write() takes an async iterable of text and bytes, and readStream() applies backpressure", async () => {
    await using session = await runtime.openSession();
    async function* pieces(): AsyncGenerator<string | Uint8Array> {
      yield "one ";
      yield new Uint8Array(0);
      yield Buffer.from("two ");
      yield "three";
    }
    expect((await session.files.write("f", pieces())).size).toBe(13);
    await valueOf(session, `open('big', 'wb').write(bytes(${8 * MIB})); None`);
    let size = 0;
    for await (const chunk of session.files.readStream("big", { offset: 5 })) {
      size += chunk.length;
      if (size > MIB) break;
    }
    expect(size).toBeLessThan(2 * MIB);
    expect((await session.files.read("f")).toString()).toBe("one two three");
  });

  test("a write that fails or is aborted changes nothing and leaves no temporary file", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "old");
    async function* failing(): AsyncGenerator<string> {
      yield "half";
      throw new Error("the source broke");
    }
    await expect(session.files.write("f", failing())).rejects.toThrow("the source broke");
    const controller = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let count = 0; ; count += 1) {
        if (count === 20) controller.abort(new Error("enough"));
        yield new Uint8Array(MIB);
      }
    }
    await expect(session.files.write("f", endless(), { signal: controller.signal })).rejects.toThrow("enough");
    expect(await valueOf(session, "import os; (open('f').read(), os.listdir())")).toBe("('old', ['f'])");
  });

  test("readTo() names the host's path that cannot be written", async () => {
    await using session = await runtime.openSession();
    await session.files.write("f", "x");
    await expect(session.files.readTo("f", scratch)).rejects.toMatchObject({
      message: `Cannot write the host's '${scratch}': it is a folder. Name a file in it`,
      reason: "is-a-folder",
    });
    await expect(session.files.readTo("f", join(scratch, "gone", "f"))).rejects.toMatchObject({
      message: `Cannot write the host's '${join(scratch, "gone", "f")}': there is no folder '${join(scratch, "gone")}'`,
      reason: "not-found",
    });
  });

  test("readTo() keeps the host's file when there is nothing to read", async () => {
    await using session = await runtime.openSession();
    const target = join(scratch, "kept");
    writeFileSync(target, "mine");
    expect(await reasonOf(session.files.readTo("absent", target))).toBe("not-found");
    expect(readFileSync(target, "utf8")).toBe("mine");
    expect(readdirSync(scratch).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});
