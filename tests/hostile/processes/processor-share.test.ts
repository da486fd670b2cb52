// The share of the processors: however many threads and processes code has, the host gets its own share.

import { existsSync, readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { openRuntime } from "../../internals.ts";
import { comesTrue, processesWith, python } from "../machine.ts";
import { uniqueSleep } from "../probe.ts";

const AUTOGROUP = "/proc/sys/kernel/sched_autogroup_enabled";
const SHARES = "/sys/fs/cgroup/cpu";

const runtime = await openRuntime({ python, preload: [], poolSize: 0 });
afterAll(() => runtime.close());
await runtime.execute("1");

test.skipIf(!existsSync(AUTOGROUP))(
  "all code is in one session of low priority, also that of shell commands",
  async () => {
    await using session = await runtime.openSession();
    const [inCode, inShell] = [uniqueSleep(), uniqueSleep()];
    void session.execute(`import os; os.system("sleep ${inCode}")`);
    const task = runtime.shell(`sleep ${inShell}`);
    expect(await comesTrue(() => processesWith(inCode).length > 0 && processesWith(inShell).length > 0)).toBe(true);
    const groups = [inCode, inShell].map((mark) => autogroupOf(processesWith(mark)[0] ?? 0));
    expect(groups[0]).toEqual(groups[1]);
    expect(groups[0]).toMatchObject({ nice: 5 });
    expect(groups[0]?.name).not.toBe(autogroupOf(process.pid).name);
    await task.cancel();
  },
);

const hasCpuCgroup = runtime.report().cgroup === 1 && existsSync(`${SHARES}/cpu.shares`);
test.skipIf(!hasCpuCgroup)("all code is in one cpu cgroup, which is removed at the end", async () => {
  const other = await openRuntime({ python, preload: [], poolSize: 0 });
  const session = await other.openSession();
  const mark = uniqueSleep();
  void session.execute(`import os; os.system("setsid sleep ${mark}")`);
  expect(await comesTrue(() => processesWith(mark).length > 0)).toBe(true);
  const folder = SHARES + cpuCgroupOf(processesWith(mark)[0] ?? 0);
  expect(folder).toMatch(/\/rlm-\d+-\d+-\d+$/);
  expect(Number(readFileSync(`${folder}/cpu.shares`, "utf8"))).toBeLessThan(1024);
  await other.close();
  expect(await comesTrue(() => !existsSync(folder))).toBe(true);
});

function autogroupOf(pid: number): { name: string; nice: number } {
  const [, name, nice] = /^(\S+) nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, "utf8")) ?? [];
  return { name: name ?? "", nice: Number(nice) };
}

function cpuCgroupOf(pid: number): string {
  return /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "";
}
