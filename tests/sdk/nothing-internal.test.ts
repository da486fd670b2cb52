// What callers can reach and change of a runtime on this machine: what is public, and nothing that the runtime itself uses.

import { afterAll, beforeAll, expect, test } from "vitest";
import { IdReusedError, openRuntime, type LocalRuntime } from "../../src/index.ts";
import { namesOf } from "../fixtures/names-of.ts";
import { PYTHON } from "../open.ts";

let runtime: LocalRuntime;
beforeAll(async () => {
  runtime = await openRuntime({ python: PYTHON, preload: [], poolSize: 1 });
});
afterAll(() => runtime.close());

const PROMISE = ["then", "catch", "finally"];

test("executions and tasks have what is public, and nothing else", async () => {
  const execution = runtime.execute("1");
  const task = runtime.shell("true");
  expect(namesOf(execution)).toEqual(["id", "cancel", "output", "answer", ...PROMISE].toSorted());
  expect(namesOf(task)).toEqual(
    ["id", "info", "output", "wait", "cancel", "pause", "resume", "write", "closeInput", ...PROMISE].toSorted(),
  );
  await Promise.all([execution, task]);
});

test("the limits cannot be changed", async () => {
  expect(() => Object.assign(runtime.limits, { memoryBytes: 1 })).toThrow(TypeError);
  await using session = await runtime.openSession();
  expect((await session.execute("1")).status).toBe("ok");
});

test("changing a checkpoint changes what its owner has alone", async () => {
  await using session = await runtime.openSession();
  await session.execute("a = 1");
  const checkpoint = await session.checkpoint();
  const { id } = checkpoint;
  Object.assign(checkpoint, { id: "another" });
  const [kept] = await session.checkpoints();
  expect(kept?.id).toBe(id);
  Object.assign(kept ?? {}, { id: "another" });
  await session.execute("a = 2");
  expect((await session.rewind(id)).id).toBe(id);
  expect(await session.get("a")).toBe(1);
});

test("a one-off execution is found by its id from the start, and its id is taken", async () => {
  await using session = await runtime.openSession();
  const started = runtime.execute("40 + 2", { id: "chosen" });
  const found = runtime.executions.get("chosen");
  await expect(session.execute("40 + 2", { id: "chosen" })).rejects.toBeInstanceOf(IdReusedError);
  expect((await found).text).toBe("42");
  expect(await found).toBe(await started);
});

test("an id of an execution that is no text throws at once", async () => {
  await using session = await runtime.openSession();
  expect(() => session.output(5 as unknown as string)).toThrow("Cannot use a number as an id");
});
