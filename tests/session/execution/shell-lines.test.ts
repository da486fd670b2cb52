import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { COMMAND_LINES, openTestRuntime, workFolderOf } from "../../open.ts";

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
    expect(stdout).toBe(`${await workFolderOf(session)}\n['here']\n`);
  });

  test("are ended by a time limit with all their processes", async () => {
    await using session = await runtime.openSession();
    const result = await session.execute("!sleep 2468101 | sleep 2468102", { timeoutMs: 200 }).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "kept" });
    expect((await run(session, `print(b'246810' in ${COMMAND_LINES})`)).stdout).toBe("False\n");
  });
});
