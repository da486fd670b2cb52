// A folder of the host that is mounted read-only below a folder that code may write to, such as /tmp.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { TIER } from "../../tier.ts";

let runtime: Runtime;
let folder: string;

beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 0 });
  folder = mkdtempSync("/tmp/rlm-read-only-");
  mkdirSync(join(folder, "below"));
  writeFileSync(join(folder, "below", "file"), "text");
  for (const path of [folder, join(folder, "below")]) chmodSync(path, 0o777);
});

afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

/** A named pipe that anybody may write to. The host reads it. */
function openPipe(path: string): Disposable & { readonly received: () => string } {
  execFileSync("mkfifo", ["-m", "666", path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const received = (): string => {
    const buffer = Buffer.alloc(100);
    return buffer.toString("utf8", 0, readSync(fd, buffer));
  };
  return { received, [Symbol.dispose]: () => closeSync(fd) };
}

const WRITE = `import os
def write(path, flags):
    try: return os.write(os.open(path, flags | os.O_NONBLOCK), b"hello")
    except OSError as error: return type(error).__name__`;

test("a named pipe in it cannot be written, also one that is made later", async () => {
  using before = openPipe(join(folder, "below", "before"));
  await using session = await runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });
  using later = openPipe(join(folder, "later"));
  for (const name of ["below/before", "later"]) {
    const path = JSON.stringify(join(folder, name));
    const attempts = `${WRITE}\n[write(${path}, os.O_WRONLY), write(${path}, os.O_RDWR), write(os.path.realpath(${path}), os.O_WRONLY)]`;
    expect(await valueOf(session, attempts)).toBe("['PermissionError', 'PermissionError', 'PermissionError']");
  }
  expect([before.received(), later.received()]).toEqual(["", ""]);
});

test("it has its own path, and what is beside it can be written", async () => {
  await using session = await runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });
  const path = JSON.stringify(folder);
  expect(
    await valueOf(
      session,
      `import os; os.chdir(${path}); open("below/file").read(), sorted(os.listdir(${path} + "/below"))[-1]`,
    ),
  ).toBe("('text', 'file')");
  const beside = `open(${path} + "-beside", "w").write("x"), open("/tmp/other", "w").write("y")`;
  if (TIER === "C") await expect(valueOf(session, beside)).rejects.toThrow("Permission");
  else expect(await valueOf(session, beside)).toBe("(1, 1)");
  await expect(valueOf(session, `open(${path} + "/below/file", "w")`)).rejects.toThrow(/Read-only|Permission/);
  const { stdout } = await runtime.shell("pwd; cat below/file", { session, cwd: folder }).result;
  expect(stdout).toBe(`${folder}\ntext`);
});

test("a folder in it that is mounted for writing can be written", async () => {
  const below = join(folder, "below");
  const mounts = [
    { path: folder, mode: "ro" as const },
    { path: below, mode: "rw" as const },
  ];
  await using session = await runtime.openSession({ mounts });
  expect(await valueOf(session, `open(${JSON.stringify(join(below, "written"))}, "w").write("x")`)).toBe("1");
  await expect(valueOf(session, `open(${JSON.stringify(join(folder, "refused"))}, "w")`)).rejects.toThrow(
    /Read-only|Permission/,
  );
});

test.skipIf(process.getuid?.() !== 0)(
  "a device file in it opens nothing (skipped where none can be made)",
  async () => {
    execFileSync("mknod", ["-m", "666", join(folder, "device"), "c", "1", "5"]);
    await using session = await runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });
    const path = JSON.stringify(join(folder, "device"));
    const attempts = `${WRITE}\n[write(${path}, os.O_RDWR), write(${path}, os.O_RDONLY)]`;
    // Without mounts of its own it can open the device to read, which the host allows to everybody, and the write fails.
    expect(await valueOf(session, attempts)).toBe(
      `['PermissionError', '${TIER === "C" ? "OSError" : "PermissionError"}']`,
    );
  },
);
