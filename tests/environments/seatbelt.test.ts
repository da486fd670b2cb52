// Sessions of macOS, on Linux: what macOS does to a process is done by a stand-in that has no walls, and none of Linux's own features.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Sandbox } from "../../src/environments/environment.ts";
import { LocalEnvironment } from "../../src/environments/local/local.ts";
import { DEFAULT_LIMITS } from "../../src/session/default-limits.ts";
import { converse, PLAIN } from "../contracts/environment.ts";
import { comesTrue, processesWith, python } from "../hostile/machine.ts";

const STAND_IN = [python, "-I", join(import.meta.dirname, "../fixtures/sandbox-exec.py")];
const options = {
  python,
  preload: [],
  poolSize: 0,
  poolOptions: PLAIN,
  onLessMemory: () => {},
};

beforeAll(() => vi.stubEnv("RLM_SANDBOX_TIER", ""));
afterAll(() => vi.unstubAllEnvs());

function open(machine: { readonly platform: string; readonly isRoot: boolean }): LocalEnvironment {
  return new LocalEnvironment(options, { ...machine, sandboxExec: STAND_IN });
}

async function readWith(sandbox: Sandbox, request: object): Promise<string> {
  const job = await sandbox.startJob();
  await job.write(`${JSON.stringify({ folder: sandbox.folder, ...request })}\n`);
  let text = "";
  for await (const chunk of job.output()) text += chunk.toString();
  await job.ended;
  return text;
}

describe("a session under the supervisor", { timeout: 60_000 }, () => {
  let environment: LocalEnvironment;
  let sandbox: Sandbox;
  beforeEach(async () => {
    environment = open({ platform: "darwin", isRoot: false });
    sandbox = await environment.openSandbox(PLAIN);
  });
  afterEach(() => environment.close());

  test("runs code, with output, state and files, and says what it is", async () => {
    const { received, exec } = converse(sandbox);
    await exec("a", "import os; print('out'); x = 20");
    await exec("b", "open('made', 'w').write('inside'); x + 1");
    expect(received.stdout).toBe("out\n");
    expect(received.events).toContain('"text/plain":"21"');
    expect(await readWith(sandbox, { do: "read", path: "made", offset: 0, length: null })).toContain("inside");
    const { tier, capabilities, notStopped, strongerTier } = environment.report();
    expect({ tier, capabilities, strongerTier }).toMatchObject({
      tier: "seatbelt",
      strongerTier: { why: "macOS is not Linux" },
      capabilities: { fork: false, checkpoint: false, shell: false, processes: true, watch: false },
    });
    expect(notStopped[0]).toMatch(/never tried on macOS/);
  });

  test("an interrupt ends an execution, and the session goes on", async () => {
    const { received, exec, until } = converse(sandbox);
    const code = "print('runs', flush=True)\nwhile True: pass";
    sandbox.worker.command(JSON.stringify({ id: "a", cmd: "exec", count: 1, code }));
    await until(({ stdout }) => stdout.includes("runs"));
    await sandbox.worker.interrupt();
    await until(({ events }) => events.includes('"id":"a"'));
    expect(received.events).toContain('"status":"interrupted"');
    await exec("b", "6 * 7");
    expect(received.events).toContain('"text/plain":"42"');
  });

  test("a worker that is killed is reported, and another one starts beside the same files", async () => {
    const first = converse(sandbox);
    await first.exec("a", "open('kept', 'w').write('x')");
    sandbox.worker.kill("timeout");
    await first.until(({ exit }) => exit !== undefined);
    expect(first.received.exit).toEqual({ kind: "signal", signal: 9, reason: "timeout" });
    await sandbox.restart();
    const second = converse(sandbox);
    await second.exec("b", "import os; os.listdir()");
    expect(second.received.events).toContain("['kept']");
  });

  test("new output pipes are delivered", async () => {
    const { received, exec } = converse(sandbox);
    const renewed = sandbox.worker.renewStreams();
    sandbox.worker.command(JSON.stringify({ id: "s", cmd: "streams" }));
    await renewed;
    await exec("a", "print('through the new ones')");
    expect(received.stdout).toBe("through the new ones\n");
  });

  test("closing ends every process of its group and of its descendants, and removes the files", async () => {
    const { exec } = converse(sandbox);
    const marks = ["86411", "86412"];
    await exec(
      "a",
      `import subprocess
subprocess.Popen(["sleep", "${marks[0]}"])
subprocess.Popen(["sleep", "${marks[1]}"], start_new_session=True)
import os; os.mkdir("closed"); os.chmod("closed", 0)`,
    );
    expect(marks.flatMap((mark) => processesWith(mark))).toHaveLength(2);
    const { folder } = sandbox;
    await sandbox.close();
    expect(await comesTrue(() => marks.every((mark) => processesWith(mark).length === 0))).toBe(true);
    expect(existsSync(folder)).toBe(false);
  });

  test("too much memory ends the worker", async () => {
    const limits = { ...DEFAULT_LIMITS, memoryBytes: 128 * 1024 * 1024 };
    const small = await environment.openSandbox({ mounts: [], limits });
    const { received, until } = converse(small);
    small.worker.watch(true);
    const code = `import subprocess, sys
hog = "x = bytearray(100 * 1024 * 1024); import time; time.sleep(600)"
for _ in range(2): subprocess.Popen([sys.executable, "-c", hog])
import time; time.sleep(600)`;
    small.worker.command(JSON.stringify({ id: "a", cmd: "exec", count: 1, code }));
    await until(({ exit }) => exit !== undefined);
    expect(received.exit).toMatchObject({ reason: "memory" });
  });

  test("nothing is left when the host closes", async () => {
    const scratch = mkdtempSync(join(tmpdir(), "seatbelt-"));
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = scratch;
    try {
      const other = open({ platform: "darwin", isRoot: false });
      await other.openSandbox(PLAIN);
      expect(readdirSync(scratch)).toHaveLength(1);
      await other.close();
      expect(readdirSync(scratch)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      rmSync(scratch, { recursive: true });
    }
  });
});

test("the supervisor does not start with a program that it would not run", () => {
  const started = JSON.stringify({ tier: "seatbelt", guest: {}, sandboxExec: STAND_IN, scratch: tmpdir() });
  const server = join(import.meta.dirname, "../../python/forkserver/__main__.py");
  const { status, stderr } = spawnSync(python, ["-I", "-B", server, started], { encoding: "utf8", input: "" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: "this tier starts Python of the machine only\n" });
});

describe("machines without a tier", () => {
  test("Windows gets one clear sentence", async () => {
    await expect(open({ platform: "win32", isRoot: false }).openSandbox(PLAIN)).rejects.toMatchObject({
      why: "its walls are built from features of the Linux kernel, which Windows and others do not have",
      fix: expect.stringMatching(
        /^Run it inside WSL 2, or in a Linux container.*rlm env add docker.*rlm env add wasm/,
      ) as string,
    });
  });

  test("root of macOS is refused", async () => {
    await expect(open({ platform: "darwin", isRoot: true }).openSandbox(PLAIN)).rejects.toMatchObject({
      fix: "Start it as an ordinary user",
    });
  });
});
