// Calls that take longer than a call waits.

import { describe, expect, test } from "vitest";
import { countProcesses, uniqueSleep } from "../../e2e/processes.ts";
import { connect, ERAS, factsOf, textOf, type Connection } from "./connect.ts";
import { openWire } from "./wire.ts";

/** Long enough for what is quick, short enough to wait for. */
const WAITS = { pythonMs: 300, shellMs: 300, progressMs: 50 };

/** Ends when a test says so: code that waits for a file. */
const WAIT_FOR_FILE = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)";

describe.each(ERAS)("in the %s era", (era) => {
  test("a command that becomes a task runs once, and shell_status has the rest", async () => {
    await using mcp = await connect({ era, timings: { ...WAITS, shellMs: 2000 } });
    const command = "echo ran >> log; echo first; until [ -e go ]; do sleep 0.01; done; echo second";
    const started = await mcp.call("shell", { command });
    expect(started.isError ?? false).toBe(false);
    expect(textOf(started)).toMatch(/^Still running: task t1 \(\d[.\d]* s so far\)\.\nOutput so far:\nfirst\n/);
    expect(textOf(started)).toContain('shell_status(task_id="t1", wait=30, offset=6)');
    expect(factsOf(started)).toMatchObject({ status: "running", task_id: "t1", session_id: "default" });

    expect(await mcp.text("shell_status", { task_id: "t1", offset: 6 })).toMatch(
      /^Still running: task t1 .*\nWait for/,
    );
    const waiting = mcp.text("shell_status", { task_id: "t1", wait: 50 });
    await mcp.text("shell", { command: "touch go" });
    expect(await waiting).toMatch(/^first\nsecond(\n\[[\d.]+ s\])?$/);
    expect(await mcp.text("shell", { command: "cat log" })).toBe("ran");
    expect(await mcp.text("shell_status", { task_id: "t1", offset: 6 })).toMatch(/^second\n\[/);
  });

  test("Python becomes a task, with its value at the end", async () => {
    await using mcp = await connect({ era, timings: { ...WAITS, pythonMs: 2000 } });
    const code = `runs = globals().get('runs', 0) + 1\nprint('begun')\n${WAIT_FOR_FILE}\nruns`;
    expect(await mcp.text("execute_python", { code })).toMatch(/^Still running: task t1 .*begun/s);
    expect(await mcp.text("shell_status", { task_id: "t1" })).toMatch(/^Still running/);
    await mcp.text("shell", { command: "touch go" });
    expect(await mcp.text("shell_status", { task_id: "t1", wait: 50 })).toMatch(/^begun\n→ 1/);
    expect(await mcp.text("execute_python", { code: "runs" })).toBe("→ 1");
  });

  test("progress comes while a call waits, with increasing values and the last line", async () => {
    await using mcp = await connect({ era, timings: { ...WAITS, shellMs: 60_000 } });
    const heard: { progress: number; message?: string | undefined }[] = [];
    const params = { name: "shell", arguments: { command: "echo working; until [ -e go ]; do sleep 0.01; done" } };
    let release: Promise<unknown> | undefined;
    await mcp.client.callTool(params, {
      onprogress: (progress) => {
        heard.push(progress);
        // The command may take its time to begin.
        if (heard.length >= 3 && progress.message?.endsWith("working"))
          release ??= mcp.text("shell", { command: "touch go" });
      },
    });
    await release;
    expect(heard.length).toBeGreaterThanOrEqual(3);
    expect(heard.map(({ progress }) => progress)).toEqual(heard.map((_, at) => at + 1));
    expect(heard.at(-1)?.message).toMatch(/^\d+ s: working$/);
  });

  test.each([
    ["shell", (sleep: string) => ({ command: `sleep ${sleep}` })],
    ["execute_python", (sleep: string) => ({ code: `import subprocess\nsubprocess.run(['sleep', '${sleep}'])` })],
    ["python", (sleep: string) => ({ code: `import subprocess\nsubprocess.run(['sleep', '${sleep}'])` })],
  ] as const)("a cancelled call of %s ends its processes", async (name, toArguments) => {
    await using mcp = await connect({ era });
    const sleep = uniqueSleep();
    const request = new AbortController();
    const call = mcp.client.callTool({ name, arguments: toArguments(sleep) }, { signal: request.signal });
    await expect.poll(() => countProcesses(sleep)).toBe(1);
    request.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await expect.poll(() => countProcesses(sleep)).toBe(0);
    expect(mcp.unexpected).toEqual([]);
  });
});

test("cancelling the wait for a task leaves the task alone; kill ends it", async () => {
  await using mcp = await connect({ timings: WAITS });
  const sleep = uniqueSleep();
  await mcp.text("shell", { command: `sleep ${sleep}` });
  const request = new AbortController();
  const params = { name: "shell_status", arguments: { task_id: "t1", wait: 50 } };
  let waiting: Promise<unknown> | undefined;
  await new Promise<void>((resolve) => {
    waiting = mcp.client.callTool(params, { signal: request.signal, onprogress: () => resolve() });
  });
  request.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  expect(countProcesses(sleep)).toBe(1);
  const killed = await mcp.call("shell_status", { task_id: "t1", kill: true });
  expect(killed.isError ?? false).toBe(false);
  expect(textOf(killed)).toMatch(/^\[cancelled/);
  await expect.poll(() => countProcesses(sleep)).toBe(0);
});

test("kill ends a Python task, and the session stays alive", async () => {
  await using mcp = await connect({ timings: WAITS });
  await mcp.text("execute_python", { code: "x = 1\nwhile True: pass" });
  expect(await text(mcp, "shell_status", { task_id: "t1", kill: true })).toContain("cancelled");
  expect(await mcp.text("execute_python", { code: "x" })).toBe("→ 1");
});

test("operations between executions wait no longer than a call for Python", async () => {
  await using mcp = await connect({ timings: WAITS });
  await mcp.text("execute_python", { code: `x = 1\n${WAIT_FOR_FILE}` });
  const calls: [string, Record<string, string>][] = [
    ["set_repl_context", { key: "x", value: "2" }],
    ["clear_repl_context", {}],
    ["clear_repl_session", { session_id: "default" }],
    ["save_repl_session", { session_id: "default", filepath: "busy" }],
  ];
  for (const [name, args] of calls)
    expect(await mcp.failure(name, args)).toBe(
      "Session 'default' is busy with task t1, and nothing was done. " +
        'Try again when it has ended, or end it with shell_status(task_id="t1", kill=true).',
    );
  await mcp.text("shell", { command: "touch go" });
  await mcp.text("shell_status", { task_id: "t1", wait: 50 });
  expect(await mcp.text("execute_python", { code: "x" })).toBe("→ 1");
});

test("a queued execution says so", async () => {
  await using mcp = await connect({ timings: WAITS });
  await mcp.text("execute_python", { code: WAIT_FOR_FILE });
  expect(await mcp.text("execute_python", { code: "1" })).toMatch(
    /^Waiting for its turn in session 'default' behind task t1: task t2\./,
  );
  await mcp.text("shell", { command: "touch go" });
  expect(await mcp.text("shell_status", { task_id: "t2", wait: 50 })).toBe("→ 1");
});

test("reading past the end of the output, or of an ended task, says that there is no more", async () => {
  await using mcp = await connect({ timings: WAITS });
  await mcp.text("shell", { command: "echo a; sleep 0.5" });
  await mcp.text("shell_status", { task_id: "t1", wait: 50 });
  expect(await mcp.text("shell_status", { task_id: "t1", offset: 2 })).toMatch(/^\[(completed|[\d.]+ s)\]$/);
  expect(await mcp.text("shell_status", { task_id: "t1", offset: 999_999_999 })).toMatch(/^\[(completed|[\d.]+ s)\]$/);
});

test("a temporary session that became a task ends with it", { tags: "stress" }, async () => {
  await using mcp = await connect({ timings: WAITS });
  expect(await mcp.text("python", { code: "import time\nprint('a')\ntime.sleep(2)\n7" })).toMatch(
    /^Still running: task t1/,
  );
  expect(mcp.runtime.sessions.list()).toHaveLength(1);
  expect(await mcp.text("shell_status", { task_id: "t1", wait: 50 })).toMatch(/^a\n→ 7/);
  await expect.poll(() => mcp.runtime.sessions.list().length).toBe(0);
});

describe("the tasks extension", () => {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };

  test("a client that supports it gets a task, and the result when it polls", async () => {
    await using wire = await openWire({ capabilities, timings: WAITS });
    const code = `print('begun')\n${WAIT_FOR_FILE}\n1 / 0`;
    const created = await wire.call("execute_python", { code });
    expect(created.result).toMatchObject({ resultType: "task", taskId: "t1", status: "working", pollIntervalMs: 1000 });
    expect((await wire.request("tasks/get", { taskId: "t1" })).result).toMatchObject({
      taskId: "t1",
      status: "working",
    });
    await wire.call("shell", { command: "touch go" });
    await wire.call("shell_status", { task_id: "t1", wait: 50 });
    expect((await wire.request("tasks/get", { taskId: "t1" })).result).toMatchObject({
      status: "completed",
      result: { isError: true, content: [{ text: expect.stringContaining("ZeroDivisionError") }] },
    });
  });

  test("a call that ends in time has a plain result", async () => {
    await using wire = await openWire({ capabilities, timings: { ...WAITS, shellMs: 20_000 } });
    expect((await wire.call("shell", { command: "echo a" })).result).toMatchObject({ content: [{ text: "a" }] });
  });

  test("tasks/cancel ends a task; another id is a protocol error", async () => {
    await using wire = await openWire({ capabilities, timings: WAITS });
    const sleep = uniqueSleep();
    await wire.call("shell", { command: `sleep ${sleep}` });
    expect((await wire.request("tasks/update", { taskId: "t1" })).error).toBeUndefined();
    expect((await wire.request("tasks/cancel", { taskId: "t1" })).error).toBeUndefined();
    await expect.poll(() => countProcesses(sleep)).toBe(0);
    expect((await wire.request("tasks/get", { taskId: "t1" })).result).toMatchObject({ status: "cancelled" });
    expect((await wire.request("tasks/get", { taskId: "t9" })).error).toMatchObject({ code: -32602 });
  });
});

async function text(mcp: Connection, name: string, args: Record<string, unknown>): Promise<string> {
  return textOf(await mcp.call(name, args));
}
