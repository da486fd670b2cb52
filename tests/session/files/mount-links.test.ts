// Links in the working directory to mounted folders.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";

let host: string;
let runtime: Runtime;
beforeAll(async () => {
  host = realpathSync(mkdtempSync(join(tmpdir(), "rlm-links-")));
  for (const name of ["data", "other/data", "big"]) mkdirSync(join(host, name), { recursive: true });
  writeFileSync(join(host, "data", "x.txt"), "of the host");
  writeFileSync(join(host, "big", "y.txt"), "elsewhere");
  symlinkSync(join(host, "big"), join(host, "alias"));
  runtime = await openTestRuntime({ mounts: [{ path: join(host, "data"), mode: "rw" }] });
});
afterAll(async () => {
  await runtime.close();
  rmSync(host, { recursive: true, force: true });
});

describe("a mounted folder", () => {
  test("is at its name in the working directory, for code and for commands", async () => {
    await using session = await runtime.openSession();
    expect(await valueOf(session, "open('data/x.txt').read()")).toBe("'of the host'");
    expect(await runtime.shell("cat data/x.txt", { session }).result).toMatchObject({ stdout: "of the host" });
  });

  test("has the name that its user gave, also where the path is a link", async () => {
    await using session = await runtime.openSession({ mounts: [{ path: join(host, "alias"), mode: "ro" }] });
    expect(await valueOf(session, "open('alias/y.txt').read()")).toBe("'elsewhere'");
    await using named = await runtime.openSession({ mounts: [{ path: join(host, "big"), mode: "ro", name: "small" }] });
    expect(await valueOf(named, "open('small/y.txt').read()")).toBe("'elsewhere'");
  });

  test("does not get the name of another", async () => {
    await using session = await runtime.openSession({ mounts: [{ path: join(host, "other", "data"), mode: "ro" }] });
    expect(await valueOf(session, "__import__('os').listdir('data')")).toBe("['x.txt']");
    expect(await valueOf(session, `__import__('os').listdir('${join(host, "other", "data")}')`)).toBe("[]");
  });

  test("is where code starts, if cwd names it", async () => {
    await using session = await runtime.openSession({ cwd: "data" });
    expect(await valueOf(session, "__import__('os').listdir()")).toBe("['x.txt']");
    expect(await runtime.shell("ls", { session }).result).toMatchObject({ stdout: "x.txt\n" });
  });

  test("is there in a fork, and after the loss of the worker", async () => {
    await using session = await runtime.openSession();
    await using fork = await session.fork();
    expect(await valueOf(fork, "open('data/x.txt').read()")).toBe("'of the host'");
    await session.execute("import os; os.unlink('data'); open('data', 'w').write('mine'); os._exit(1)").result;
    expect(await valueOf(session, "open('data').read()")).toBe("'mine'");
  });

  test("is out of reach for operations of the host", async () => {
    await using session = await runtime.openSession();
    const { entries } = await session.files.list(".");
    expect(entries).toMatchObject([{ path: "data", type: "link" }]);
    await expect(session.files.read("data/x.txt")).rejects.toMatchObject({ code: "SECURITY" });
    await expect(session.files.write("data/new.txt", "x")).rejects.toMatchObject({ code: "SECURITY" });
    await session.files.remove("data"); // the link alone
    expect(await valueOf(session, `open('${join(host, "data", "x.txt")}').read()`)).toBe("'of the host'");
  });
});

test("a cwd that is not there is refused with what to do", async () => {
  const elsewhere = join(host, "other");
  await expect(runtime.openSession({ id: "lost", cwd: elsewhere })).rejects.toThrow(
    new RangeError(
      `Cannot open session 'lost': there is no folder '${elsewhere}' in it. A folder of the host must be mounted`,
    ),
  );
  await expect(runtime.openSession({ id: "lost", cwd: "data/x.txt" })).rejects.toThrow(
    "its cwd 'data/x.txt' is not a folder",
  );
});
