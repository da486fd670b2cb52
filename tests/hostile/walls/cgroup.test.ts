// The memory cgroup of a sandbox, where one may be made: the kernel holds all its processes to one limit.

import { existsSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { comesTrue, processesWith } from "../machine.ts";
import { openStage } from "../stage.ts";
import { skipInTierC } from "../../tier.ts";

const MIB = 2 ** 20;
const LIMITS = { memoryBytes: 128 * MIB, diskBytes: 32 * MIB };
/** What the kernel needs for itself, see limits.py. */
const KERNEL_BYTES = 64 * MIB;

const stage = await openStage({ poolSize: 0 });
const version = stage.runtime.report().cgroup;

afterAll(() => stage[Symbol.asyncDispose]());

describe.skipIf(version === null)(`a memory cgroup${version === null ? " (none can be made here)" : ""}`, () => {
  test("holds the processes of one session, and ends with it", async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const [cgroup, others] = [await cgroupOf(one), await cgroupOf(other)];
    expect(cgroup).not.toBe(others);
    expect(limitOf(cgroup)).toBe(LIMITS.memoryBytes + LIMITS.diskBytes + KERNEL_BYTES);
    await other.close();
    await one.close();
    expect(await comesTrue(() => !existsSync(cgroup) && !existsSync(others))).toBe(true);
  });

  test("shows code no name of a cgroup", async (context) => {
    skipInTierC(context, "there is no namespace for them");
    await using session = await open();
    const code = "{line.rstrip().split(':', 2)[2] for line in open('/proc/self/cgroup')}";
    expect((await session.execute(code).result).value).toEqual({ "text/plain": "{'/'}" });
  });

  test("is had in tier C, too, and nothing of it is left when the runtime closes", async () => {
    vi.stubEnv("RLM_SANDBOX_TIER", "C");
    const runtime = await openTestRuntime({ poolSize: 0 });
    try {
      const [one, other] = [await open(runtime), await open(runtime)];
      const [cgroup, others] = [await cgroupOf(one), await cgroupOf(other)];
      expect({ tier: runtime.report().tier, version: runtime.report().cgroup }).toEqual({ tier: "C", version });
      expect(limitOf(cgroup)).toBe(LIMITS.memoryBytes + LIMITS.diskBytes + KERNEL_BYTES);
      await one.close();
      expect(await comesTrue(() => !existsSync(cgroup))).toBe(true);
      await runtime.close();
      expect(await comesTrue(() => !existsSync(others))).toBe(true);
    } finally {
      vi.unstubAllEnvs();
      await runtime.close();
    }
  });

  test("grows with forks and checkpoints, which have limits of their own", async () => {
    await using session = await open();
    const cgroup = await cgroupOf(session);
    await using fork = await session.fork();
    expect((await fork.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    const both = 2 * LIMITS.memoryBytes + LIMITS.diskBytes + KERNEL_BYTES;
    expect(await comesTrue(() => limitOf(cgroup) === both)).toBe(true);
  });

  test("stops processes that take memory faster than the init counts it, for the reason `memory`", async () => {
    await using session = await open();
    const cgroup = await cgroupOf(session);
    const greedy = `import os, time
for _ in range(12):
    if os.fork() == 0:
        b = bytearray(100 << 20)
        for j in range(0, len(b), 4096): b[j] = 1
        time.sleep(20)
        os._exit(0)
time.sleep(20)`;
    expect(await session.execute(greedy).result).toMatchObject({
      status: "interrupted",
      reason: "memory",
      state: "lost",
    });
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
    expect(peakOf(cgroup)).toBeLessThanOrEqual(limitOf(cgroup));
  });
});

async function open(runtime = stage.runtime): Promise<Session> {
  return runtime.openSession({ limits: LIMITS });
}

/** The folder of the cgroup that the session's processes are in. A process with a unique argument shows it. */
async function cgroupOf(session: Session): Promise<string> {
  const seconds = `${1000 + Math.random()}`;
  (await session.execute(`import subprocess\nsubprocess.Popen(["sleep", "${seconds}"])`).result).unwrap();
  let folder: string | undefined;
  await comesTrue(() => {
    const [pid] = processesWith(seconds);
    folder = pid === undefined ? undefined : folderOf(pid);
    return folder !== undefined;
  });
  return folder ?? expect.fail("the processes of the session are in no cgroup of their own");
}

function folderOf(pid: number): string | undefined {
  const line = version === 2 ? /^0::(?<path>.*)$/m : /^\d+:(?:\w+,)*memory(?:,\w+)*:(?<path>.*)$/m;
  const path = line.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.groups?.["path"];
  return path !== undefined && /\/rlm-\d+-\d+-\d+$/.test(path) ? `${mountPoint()}${path}` : undefined;
}

function mountPoint(): string {
  const kind = version === 2 ? "cgroup2 " : String.raw`cgroup \S+ \S*\bmemory\b`;
  const mount = new RegExp(String.raw`^(?:\S+ ){4}(?<folder>\S+) .* - ${kind}`, "m");
  return mount.exec(readFileSync("/proc/self/mountinfo", "utf8"))?.groups?.["folder"] ?? "";
}

function limitOf(cgroup: string): number {
  return readNumber(cgroup, version === 2 ? "memory.max" : "memory.limit_in_bytes");
}

function peakOf(cgroup: string): number {
  return readNumber(cgroup, version === 2 ? "memory.peak" : "memory.max_usage_in_bytes");
}

function readNumber(cgroup: string, name: string): number {
  return Number(readFileSync(`${cgroup}/${name}`, "utf8"));
}
