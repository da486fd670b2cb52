import { afterAll, beforeAll, expect, test } from "vitest";
import { IdReusedError } from "../../src/errors.ts";
import type { Runtime } from "../internals.ts";
import type { ShellOptions } from "../../src/tasks/shell-options.ts";
import { openTestRuntime } from "../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ limits: { tasks: 2 } });
});
afterAll(() => runtime.close());

const bytes = (text: string): { bytes: Uint8Array } => ({ bytes: Buffer.from(text) });

test("the same id with the same command is the same task, running or ended", async () => {
  const options = { id: "mine", env: { A: "1", B: "2" }, stdin: bytes("abc") };
  const task = runtime.shell("cat; echo $A$B", options);
  expect(task.id).toBe("mine");
  expect(runtime.shell("cat; echo $A$B", { ...options, env: { B: "2", A: "1" } })).toBe(task);
  expect((await task.result).stdout).toBe("abc12\n");
  expect(runtime.shell("cat; echo $A$B", { ...options, stdin: bytes("abc"), timeoutMs: Infinity })).toBe(task);
  expect(runtime.tasks.list().filter(({ id }) => id === "mine")).toEqual([task]);
});

test.each<[string, string, ShellOptions & { session?: string }]>([
  ["another command", "echo 2", {}],
  ["another folder", "echo 1", { cwd: "x" }],
  ["another variable", "echo 1", { env: { A: "1" } }],
  ["another time limit", "echo 1", { timeoutMs: 5_000 }],
  ["other input", "echo 1", { stdin: { text: "x" } }],
  ["open input", "echo 1", { stdin: "open" }],
])("the id of one command with %s is refused", async (_, command, options) => {
  await runtime.shell("echo 1", { id: "other" }).result;
  expect(() => runtime.shell(command, { ...options, id: "other" })).toThrow(IdReusedError);
});

test("a repeated request finds its task when its session has ended, and when no more tasks may run", async () => {
  const session = await runtime.openSession();
  const task = runtime.shell("true", { id: "gone", session });
  await task.result;
  const busy = [runtime.shell("sleep 60"), runtime.shell("sleep 60")];
  await session.close();
  expect(runtime.shell("true", { id: "gone", session: session.id })).toBe(task);
  await Promise.all(busy.map((one) => one.cancel()));
});

test("a generated id is never one that a caller chose", async () => {
  const next = runtime.shell("true");
  const chosen = runtime.shell("true", { id: `t${Number(next.id.slice(1)) + 1}` });
  await Promise.all([next.result, chosen.result]);
  const generated = runtime.shell("true");
  expect(generated).not.toBe(chosen);
  expect(generated.id).not.toBe(chosen.id);
  expect(() => runtime.shell("true", { id: generated.id })).toThrow(IdReusedError);
  await generated.result;
});

test("an id that is none is refused", () => {
  expect(() => runtime.shell("true", { id: "a b" })).toThrow(RangeError);
  expect(() => runtime.shell("true", { id: 5 as never })).toThrow(TypeError);
});
