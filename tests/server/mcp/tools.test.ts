// The tools, as a client in either protocol era meets them.

import { describe, expect, test } from "vitest";
import { connect, ERAS, factsOf, textOf } from "./connect.ts";

describe.each(ERAS)("a client of the %s era", (era) => {
  test("runs Python without a set-up call, and keeps its state", async () => {
    await using mcp = await connect({ era });
    expect(await mcp.text("execute_python", { code: "x = 20\nprint('hello')\nx + 1" })).toBe("hello\n→ 21");
    expect(await mcp.text("python_session", { code: "x + 22" })).toBe("→ 42");
    expect(mcp.unexpected).toEqual([]);
  });

  test("runs a command in the working directory of the session", async () => {
    await using mcp = await connect({ era });
    await mcp.text("execute_python", { code: "open('a.txt', 'w').write('from Python')" });
    expect(await mcp.text("shell", { command: "cat a.txt; echo; echo oops >&2; exit 3" })).toBe(
      "from Python\n[stderr]\noops\n[exit 3]",
    );
  });
});

test("results carry machine-readable data that is not shown to a model", async () => {
  await using mcp = await connect();
  const result = await mcp.call("execute_python", { code: "print('é')" });
  expect(factsOf(result)).toMatchObject({
    status: "ok",
    session_id: "default",
    exit_code: null,
    stdout_bytes: 3,
    stderr_bytes: 0,
    truncated: false,
    state: "kept",
  });
  expect(textOf(result)).toBe("é");
  expect(result.structuredContent).toBeUndefined();
});
