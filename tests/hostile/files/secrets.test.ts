// Secrets in a folder that is shown without being asked for.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Mount, Runtime, Session } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { skipInTierC, TIER } from "../../tier.ts";

/** Below a folder that sandboxes have of their own, and elsewhere. */
const parents = ["/tmp", "/var/tmp"];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

// In tier C a folder with secrets is not mounted.
describe.skipIf(TIER === "C").each(parents)("in a folder of %s", (parent) => {
  let folder: string;
  let session: Session;

  beforeAll(async () => {
    folder = mkdtempSync(`${parent}/rlm-secrets-`);
    for (const name of ["a/b", ".ssh", "shown", "closed"]) mkdirSync(join(folder, name), { recursive: true });
    for (const name of [".env", "a/b/.env", ".ssh/config", "shown/.env", "closed/.env", "a/plain"])
      writeFileSync(join(folder, name), "SECRET");
    writeFileSync(join(folder, "target"), "SECRET");
    symlinkSync("../target", join(folder, "a", ".env.local"));
    symlinkSync("../.env", join(folder, "a", "link"));
    for (const name of [".", "a", "a/b", ".ssh", "shown"]) chmodSync(join(folder, name), 0o755);
    chmodSync(join(folder, "closed"), 0o711);
    const mounts: Mount[] = [
      { path: folder, mode: "ro", hideSecrets: true },
      { path: join(folder, "shown"), mode: "ro" },
    ];
    session = await runtime.openSession({ mounts });
    await session.execute(READ).result;
  });

  afterAll(async () => {
    await session.close();
    rmSync(folder, { recursive: true });
  });

  const READ = `import os
def attempt(function):
    try: return function()
    except OSError as error: return type(error).__name__`;

  test.each([".env", "a/b/.env", "a/link", "target", "a/.env.local", "closed/.env", ".ssh/config"])(
    "%s cannot be read",
    async (name) => {
      const path = JSON.stringify(join(folder, name));
      expect(await valueOf(session, `attempt(lambda: open(${path}).read())`)).toBe("'PermissionError'");
      expect(await valueOf(session, `attempt(lambda: os.open(os.path.realpath(${path}), os.O_RDONLY))`)).toBe(
        "'PermissionError'",
      );
    },
  );

  test("they are listed, and nothing makes them readable", async () => {
    const path = JSON.stringify(folder);
    expect(await valueOf(session, `os.chdir(${path}); sorted(os.listdir())`)).toBe(
      "['.env', '.ssh', 'a', 'closed', 'shown', 'target']",
    );
    for (const code of [
      `os.chmod(".env", 0o644)`,
      `os.chmod(".ssh", 0o755)`,
      `os.unlink(".env")`,
      `os.rename(".env", "other")`,
      `os.link(".env", "/work/hard")`,
      `os.listdir(".ssh")`,
      `os.open("/proc/self/fd/%d" % os.open(".env", os.O_PATH), os.O_RDONLY)`,
      `__import__("shutil").copyfile(".env", "/work/copy")`,
    ])
      expect(await valueOf(session, `attempt(lambda: ${code})`), code).toMatch(/^'(PermissionError|OSError)'$/);
    const { stdout, exitCode } = await runtime.shell("umount .env; cat .env", { session, cwd: folder }).result;
    expect([stdout, exitCode]).toEqual(["", 1]);
  });

  test("what holds none, and what was mounted explicitly, can be read", async () => {
    for (const name of ["a/plain", "shown/.env"])
      expect(await valueOf(session, `open(${JSON.stringify(join(folder, name))}).read()`)).toBe("'SECRET'");
  });

  test("they cannot be read in a fork, after a crash, or by an operation on files", async () => {
    await using fork = await session.fork();
    const path = JSON.stringify(join(folder, ".env"));
    expect(await valueOf(fork, `attempt(lambda: open(${path}).read())`)).toBe("'PermissionError'");
    await fork.execute("os.abort()").result;
    expect(await valueOf(fork, `${READ}\nattempt(lambda: open(${path}).read())`)).toBe("'PermissionError'");
    await session.execute(`os.symlink(${path}, "/work/link")`).result;
    await expect(session.files.read("link")).rejects.toThrow(/leads out|outside/);
  });

  test("those of the host are as they were", () => {
    expect([readFileSync(join(folder, ".env"), "utf8"), statSync(join(folder, ".env")).mode & 0o777]).toEqual([
      "SECRET",
      0o644,
    ]);
  });
});

test("a session that waited in the pool does not show a file that was created meanwhile", async (context) => {
  skipInTierC(context, "a folder with secrets is not mounted");
  const folder = mkdtempSync("/tmp/rlm-secrets-");
  try {
    await using pooled = await openTestRuntime({
      poolSize: 2,
      mounts: [{ path: folder, mode: "ro", hideSecrets: true }],
    });
    await pooled.warm();
    writeFileSync(join(folder, ".env"), "SECRET");
    await using session = await pooled.openSession();
    await expect(valueOf(session, `open(${JSON.stringify(join(folder, ".env"))}).read()`)).rejects.toThrow(
      "PermissionError",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder with too many of them is refused, with what to do", async (context) => {
  skipInTierC(context, "a folder with secrets is not mounted");
  const folder = mkdtempSync("/tmp/rlm-secrets-");
  try {
    for (let index = 0; index <= 1000; index += 1) writeFileSync(join(folder, `${index}.key`), "");
    const mounts: Mount[] = [{ path: folder, mode: "ro", hideSecrets: true }];
    await expect(runtime.openSession({ mounts })).rejects.toThrow(
      `Cannot mount '${folder}': it has more than 1,000 files that hold secrets by their names. Mount it without`,
    );
    rmSync(join(folder, "1.key"));
    await using session = await runtime.openSession({ mounts });
    await expect(valueOf(session, `open(${JSON.stringify(join(folder, "999.key"))})`)).rejects.toThrow("Permission");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
