// Which executions a session keeps whole, and for how long.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

test("the last 32 executions are kept with their events and results, until a reset", async () => {
  await using session = await runtime.openSession();
  const executions = Array.from({ length: 33 }, (_, n) => session.execute(String(n)));
  const last = executions.at(-1);
  await last?.result;
  expect(executions.filter(({ id }) => session.execution(id) === undefined)).toEqual([executions[0]]);
  expect(session.execution(last?.id ?? "")).toBe(last);
  expect(runtime.sessions.findExecution(last?.id ?? "")).toBe(last);
  await session.reset();
  expect(session.execution(last?.id ?? "")).toBeUndefined();
  expect(runtime.sessions.findExecution(last?.id ?? "")).toBeUndefined();
});

test("large results are forgotten earlier than their output, which is on disk", async () => {
  await using session = await runtime.openSession();
  const large = Array.from({ length: 9 }, () => session.execute("print('x' * (2 ** 20 - 1))"));
  await large.at(-1)?.result;
  const isKept = large.map(({ id }) => session.execution(id) !== undefined);
  expect(isKept).toEqual([false, false, true, true, true, true, true, true, true]);
  const slice = session.output(large[0]?.id ?? "", { length: 3 });
  expect(Buffer.from(slice?.bytes ?? []).toString()).toBe("xxx");
});

test("what was displayed and replaced counts, too: it is in the events", async () => {
  await using session = await runtime.openSession();
  const code =
    "h = display('x', display_id=True)\nfor n in range(4): h.update({'text/plain': 'y' * 2 ** 19}, raw=True)";
  const large = Array.from({ length: 6 }, () => session.execute(code));
  const last = await large.at(-1)?.result;
  expect(last).toMatchObject({ status: "ok" });
  const isKept = large.map(({ id }) => session.execution(id) !== undefined);
  expect(isKept).toEqual([false, false, false, true, true, true]);
});
