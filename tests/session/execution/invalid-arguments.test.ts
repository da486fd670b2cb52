// Invalid arguments are refused at once, with a message, and without effect.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
let session: Session;

beforeAll(async () => {
  runtime = await openTestRuntime();
  session = await runtime.openSession();
});

afterAll(() => runtime?.close());

const openWith = (limits: Readonly<Record<string, number>>) => runtime.openSession({ limits });

test.each<[string, () => unknown, ErrorConstructor, string]>([
  ["an id that is no string", () => runtime.openSession({ id: 5 as never }), TypeError, "a number as a session id"],
  ["a fork's id that is none", () => session.fork({ id: 5 as never }), TypeError, "a number as a session id"],
  ["a time that is a text", () => session.execute("1", { timeoutMs: "5" as never }), RangeError, "as timeoutMs"],
  ["a checkpoint that is none", () => session.rewind(undefined as never), TypeError, "as a checkpoint"],
  ["a checkpoint without an id", () => session.rewind({} as never), TypeError, "as a checkpoint"],
  ["a variable without a value", () => session.set("x", undefined as never), TypeError, "give one of json"],
  ["less memory than Python needs", () => openWith({ memoryBytes: 1000 }), RangeError, "at least 67108864"],
  ["fewer processes than a session has", () => openWith({ processes: 1 }), RangeError, "at least 3"],
  ["a limit that there is not", () => openWith({ memory: 5 }), TypeError, "there is no such limit"],
  ["a path that is empty", () => session.save(""), RangeError, "give a path"],
])("%s", async (_, call, kind, message) => {
  const failed = async (): Promise<unknown> => call();
  await expect(failed()).rejects.toThrow(kind);
  await expect(failed()).rejects.toThrow(message);
  expect(runtime.sessions.list()).toEqual([session]);
});
