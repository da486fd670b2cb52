// The memory limit of all sessions together.

import { expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

const MIB = 2 ** 20;
/** Allocates and frees without end: memory is only checked when the machine has less of it, and other processes may free some meanwhile. */
const GROW = `
import time
more = []
while True:
    more.append(bytearray(b"x") * 2**23)
    if len(more) == 100: more.clear()
    time.sleep(0.05)
`;

function take(session: Session, mib: number, then = "pass"): Promise<{ status: string; reason?: string }> {
  return session.execute(`block = bytearray(${mib} * 2**20); block[::4096] = b"x" * len(block[::4096])\n${then}`)
    .result;
}

test(
  "the active session that uses most loses its worker, the others keep their state",
  { tags: "stress" },
  async () => {
    await using runtime = await openTestRuntime({ limits: { totalMemoryBytes: 450 * MIB } });
    const [quiet, greedy] = [await runtime.openSession(), await runtime.openSession()];
    await take(quiet, 180);
    const result = await take(greedy, 300, GROW);
    expect(result).toMatchObject({ status: "interrupted", reason: "memory", state: "lost" });
    expect((await quiet.execute("len(block)").result).value).toEqual({ "text/plain": String(180 * MIB) });
  },
);

test("new sessions and forks are refused above the limit, and accepted again below it", async () => {
  await using runtime = await openTestRuntime({ limits: { totalMemoryBytes: 300 * MIB } });
  const session = await runtime.openSession();
  const reason = { code: "LIMIT_EXCEEDED", limit: "totalMemoryBytes", value: 300 * MIB };
  let epoch: number;
  let refusals: unknown[];
  do {
    while ((await take(session, 301)).status !== "ok") await session.reset();
    ({ epoch } = session);
    const memoryBytes = (await session.usage())?.memoryBytes ?? 0;
    refusals = [memoryBytes > 300 * MIB, ...(await Promise.allSettled([runtime.openSession(), session.fork()]))];
  } while (session.epoch !== epoch); // it was ended, because other programs took memory
  expect(refusals).toMatchObject([true, { status: "rejected", reason }, { status: "rejected", reason }]);
  await session.execute("del block").result;
  const next = await runtime.openSession();
  expect((await next.execute("1 + 1").result).value).toEqual({ "text/plain": "2" });
});

test("files count, because they are in memory", async () => {
  await using runtime = await openTestRuntime();
  const session = await runtime.openSession();
  await session.execute("open('large', 'wb').write(bytes(50 * 2**20))").result;
  expect((await session.usage())?.diskBytes).toBeGreaterThanOrEqual(50 * MIB);
});

test("checkpoints are dropped before a worker is killed", { tags: "stress" }, async () => {
  await using runtime = await openTestRuntime({ limits: { totalMemoryBytes: 400 * MIB } });
  const session = await runtime.openSession();
  let atLoss = 0;
  session.subscribe(({ type }) => {
    if (type === "session-reset") atLoss = session.checkpoints().length;
  });
  for (let n = 0; n < 3; n += 1) {
    await take(session, 120);
    await session.checkpoint();
  }
  const running = take(session, 120, GROW);
  while (session.checkpoints().length > 1) await new Promise((resolve) => setTimeout(resolve, 10));
  session.interrupt();
  const result = await running;
  // On a busy machine the worker may be killed next, before it is interrupted.
  if (result.reason !== "memory")
    expect(result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
  expect(atLoss).toBeLessThanOrEqual(1);
});
