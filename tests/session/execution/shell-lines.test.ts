import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../../src/index.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

async function run(session: Session, code: string) {
  return (await session.execute(code).result).unwrap();
}

describe("lines that are not Python", () => {
  test("run commands in the session's folder", async () => {
    await using session = await runtime.openSession();
    const { stdout } = await run(session, "name = 'x.txt'\n!echo here > {name}; pwd\nlines = !cat $name\nprint(lines)");
    expect(stdout).toBe("/work\n['here']\n");
  });

  test("are ended by a time limit with all their processes", async () => {
    await using session = await runtime.openSession();
    const result = await session.execute("!sleep 1000 | sleep 1001", { timeoutMs: 200 }).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "kept" });
    expect((await run(session, "!ps -e 2>/dev/null | grep -c sleep || true\n")).stdout).toMatch(/^0?\n?$/);
  });
});
