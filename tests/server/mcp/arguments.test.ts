// Wrong arguments, and the messages that a model gets.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Connection } from "./connect.ts";
import { ForkRefusedError } from "../../../src/errors.ts";
import { renderError } from "../../../src/server/mcp/render/error.ts";
import { selectTools } from "../../../src/server/mcp/tools/select-tools.ts";
import { openWire } from "./wire.ts";

let mcp: Connection;
beforeAll(async () => {
  mcp = await connect();
});
afterAll(async () => {
  expect(mcp.unexpected).toEqual([]);
  await mcp[Symbol.asyncDispose]();
});

describe("is tolerated", () => {
  test.each([
    ["numbers as strings", "execute_python", { code: "1", timeout: "30", max_output: " 500 " }, "→ 1"],
    ["null for what may be absent", "execute_python", { code: "2", session_id: null, timeout: null }, "→ 2"],
    ["booleans as strings", "create_repl_session", { session_id: "b", include_stdlib: "False" }, "not wanted"],
  ])("%s", async (_, tool, args, text) => {
    expect(await mcp.text(tool, args)).toContain(text);
  });
});

describe("is refused with the right form", () => {
  test.each([
    ["a parameter that is missing", "execute_python", {}, "Wrong arguments for execute_python. code: it is missing."],
    [
      "a parameter that is not there",
      "execute_python",
      { code: "1", session: "a" },
      "It takes: code, session_id, timeout, max_output.",
    ],
    ["a parameter where there are none", "list_repl_sessions", { all: true }, "It takes none."],
    ["a negative time", "execute_python", { code: "1", timeout: -5 }, "timeout:"],
    ["no time at all", "shell", { command: "ls", timeout: 0 }, "timeout:"],
    ["an endless time", "shell", { command: "ls", timeout: 1e12 }, "timeout:"],
    ["a fraction", "shell", { command: "ls", timeout: 1.5 }, "timeout:"],
    ["a negative wait", "shell_status", { task_id: "t1", wait: -1 }, "wait:"],
    ["a wait that is too long", "shell_status", { task_id: "t1", wait: 51 }, "wait:"],
    ["a negative offset", "shell_status", { task_id: "t1", offset: -1 }, "offset:"],
    ["too little output", "shell", { command: "ls", max_output: 10 }, "max_output:"],
    ["too much output", "shell", { command: "ls", max_output: 1_000_000 }, "max_output:"],
    ["code that is no text", "execute_python", { code: ["1"] }, "code:"],
    ["a task that is not there", "shell_status", { task_id: "t77" }, "No task 't77'."],
    ["a NUL byte in a command", "shell", { command: "echo a\0b" }, "NUL"],
    ["half of a character in a command", "shell", { command: "echo \ud800" }, "half of a character"],
    ["a folder that is not there", "shell", { command: "ls", cwd: "no/such" }, "no/such"],
    ["names of Object", "execute_python", { code: "1", constructor: 1 }, "has no parameter 'constructor'"],
  ])("%s", async (_, tool, args, text) => {
    expect(await mcp.failure(tool, args)).toContain(text);
  });

  test("a NUL byte in code", async () => {
    expect(await mcp.failure("execute_python", { code: "print('a\0b')" })).toMatch(/Error/);
    expect(await mcp.text("execute_python", { code: "1" })).toBe("→ 1");
  });

  test("half of a surrogate pair", async () => {
    expect(await mcp.failure("execute_python", { code: "print('\uD800')" })).toMatch(/surrogate/i);
    expect(await mcp.failure("set_repl_context", { key: "a", value: "\uD800" })).toMatch(/surrogate/i);
    expect(await mcp.text("execute_python", { code: "1" })).toBe("→ 1");
  });

  test("50 MB of code", async () => {
    const text = await mcp.failure("execute_python", { code: "x = 1\n".repeat(8_500_000) });
    expect(text).toContain("set_repl_context(key, path)");
    expect(await mcp.text("execute_python", { code: "1" })).toBe("→ 1");
  });

  test("arguments that are not an object", async () => {
    await using wire = await openWire();
    const reply = await wire.request("tools/call", { name: "execute_python", arguments: [1] });
    expect(reply.error ?? reply.result?.["isError"]).toBeTruthy();
  });

  test("an unknown tool is a protocol error", async () => {
    await using wire = await openWire();
    expect((await wire.call("pyhton")).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("execute_python"),
    });
  });

  test("output of an unknown task", async () => {
    for (const uri of ["rlm://output/t99", "rlm://output/../x", "rlm://other/t1", "file:///etc/passwd"])
      await expect(mcp.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });
});

test("no message names a tool that is not offered", async () => {
  await using core = await connect({ tools: selectTools("core"), beside: mcp });
  expect(await core.failure("shell", { command: "ls", session_id: "x" })).toMatch(
    /^No session 'x'\. .* Leave session_id out\.$/,
  );
  expect(await core.failure("execute_python", { code: "#".repeat(4_000_001) })).toMatch(/into a file and read that\.$/);
  const refused = new ForkRefusedError({ action: "fork", why: "threads run" });
  expect(renderError(refused, { runtime: mcp.runtime, offers: () => false })).toBe(
    "Cannot fork: threads run. Try again when its code has ended.",
  );
});

test("an environment that cannot run says why, and how to fix it", async () => {
  await using broken = await connect({ runtime: { python: "/nowhere/python" } });
  expect(await broken.failure("execute_python", { code: "1" })).toMatch(/^Cannot run anything here: .*Install Python/);
  expect(await broken.failure("shell", { command: "ls" })).toMatch(/^Cannot run anything here: /);
});

test("10,000 tasks do not crash the server", { tags: "stress" }, async () => {
  const session = await mcp.runtime.obtainSession("default");
  const execution = session.execute("print('x' * 100)");
  await execution.result;
  for (let made = 0; made < 10_000; made += 1) {
    mcp.runtime.tasks.adopt({
      sessionId: execution.sessionId,
      code: execution.code,
      startedAt: 0,
      result: execution.result,
      printed: { total: 0, readable: 0, hold: () => {}, close: () => {} },
      follow: (options) => execution.follow(options),
      output: (range) => execution.output(range),
      lastLine: () => "",
      cancel: () => {},
      [Symbol.asyncIterator]: () => execution[Symbol.asyncIterator](),
    });
  }
  await expect.poll(() => mcp.runtime.tasks.list().length).toBeLessThan(2_000);
  expect((await mcp.failure("shell_status", { task_id: "nope" })).length).toBeLessThan(500);
});
