// Sessions and tasks on an environment that lacks capabilities.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../src/runtime.ts";
import { renderError } from "../../src/server/mcp/render/error.ts";
import { toProblem } from "../../src/server/net/problem.ts";
import { describeEnvironment } from "../contracts/environment.ts";
import { valueOf } from "../open.ts";
import { LIMITED, LimitedEnvironment, openLimitedRuntime } from "./limited.ts";

describeEnvironment("limited", { open: () => new LimitedEnvironment(), capabilities: LIMITED });

describe("a session on an environment without fork, checkpoint and shell", () => {
  let runtime: Runtime;
  beforeAll(() => {
    runtime = openLimitedRuntime();
  });
  afterAll(() => runtime.close());

  test("runs code, and comes back empty after a crash", async () => {
    await using session = await runtime.openSession();
    await session.execute("x = 1").result;
    expect(await valueOf(session, "x + 1")).toBe("2");
    expect(await session.execute("import os; os._exit(1)").result).toMatchObject({ state: "lost" });
    expect(await valueOf(session, "'x' in dir()")).toBe("False");
    expect(await session.info()).toMatchObject({ environment: "limited" });
  });

  test("refuses a fork, with what to do instead", async () => {
    await using session = await runtime.openSession({ id: "own" });
    await expect(session.fork()).rejects.toMatchObject({
      code: "FORK_REFUSED",
      capability: "fork",
      message:
        "Cannot fork session 'own': environment 'limited' does not have the capability 'fork'. " +
        "Save the session, and load the file into another one",
    });
    expect(runtime.sessions.list()).toEqual([session]);
  });

  test.each([
    ["checkpoint", "make a checkpoint"],
    ["rewind", "go back to a checkpoint"],
    ["undo", "undo the last execution"],
  ] as const)("refuses %s(), also while code runs", async (method, action) => {
    await using session = await runtime.openSession();
    const execution = session.execute("import time; time.sleep(0.2)");
    await expect(session[method]("c1")).rejects.toMatchObject({
      code: "FORK_REFUSED",
      capability: "checkpoint",
      message: expect.stringMatching(`^Cannot ${action}: environment 'limited' does not have .* 'checkpoint'. Save`),
    });
    expect(await execution.result).toMatchObject({ status: "ok" });
  });

  test("does not open with autoCheckpoint", async () => {
    await expect(runtime.openSession({ autoCheckpoint: true })).rejects.toMatchObject({
      code: "FORK_REFUSED",
      capability: "checkpoint",
      message: expect.stringContaining("Cannot open a session with autoCheckpoint: environment 'limited'"),
    });
  });

  test("refuses shell commands, in a live session and in the default one", async () => {
    await using session = await runtime.openSession();
    for (const options of [{ session }, {}]) {
      expect(() => runtime.shell("true", options)).toThrow(
        expect.objectContaining({
          code: "CAPABILITY_MISSING",
          capability: "shell",
          environment: "limited",
          message:
            "Cannot run a shell command: environment 'limited' does not have the capability 'shell'. " +
            "Run Python in a session, or open one in an environment that has a shell",
        }),
      );
    }
    expect(runtime.tasks.list()).toEqual([]);
  });

  test("a missing capability is a conflict over HTTP, and MCP clients are not told to try again", async () => {
    await using session = await runtime.openSession();
    const attempts = [() => session.fork(), async () => runtime.shell("true")];
    const errors = await Promise.all(attempts.map((attempt) => attempt().then(String, (error: Error) => error)));
    const server = { runtime, offers: () => true };
    expect(errors.map((error) => toProblem(error).status)).toEqual([409, 409]);
    expect(errors.map((error) => renderError(error, server))).toEqual(
      errors.map((error) => `${(error as Error).message}.`),
    );
  });
});
