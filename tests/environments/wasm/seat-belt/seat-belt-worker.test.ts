// The process of a session behind the seat belt, with small programs in place of Python.

import { closeSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, expect, test } from "vitest";
import { SeatBeltWorker, type WorkerProgram } from "../../../../src/environments/wasm/seat-belt/seat-belt-worker.ts";
import type { WorkerExit } from "../../../../src/environments/environment.ts";
import { deferred } from "../../../../src/util/async/deferred.ts";

const image = openSync("/dev/null", "r");
afterAll(() => closeSync(image));

const FLOOD_BYTES = 8 * 2 ** 20;
/** Writes one frame of events. */
const FLOOD = `
const head = Buffer.alloc(5);
head.writeUInt32LE(${FLOOD_BYTES}, 1);
const all = Buffer.concat([head, Buffer.alloc(${FLOOD_BYTES}, 120)]);
require("node:net").Socket({ fd: 5 }).write(all);
setInterval(() => {}, 1000);`;

function start(code: string, options: Partial<WorkerProgram> = {}) {
  const program = { executable: process.execPath, arguments: ["-e", code], image, cwd: tmpdir(), memoryBytes: 1 };
  const worker = new SeatBeltWorker({ ...program, memoryOf: () => 0, ...options });
  const exit = deferred<WorkerExit>();
  const flood = deferred();
  let bytes = 0;
  const listen = (): void =>
    worker.listen({
      onEvents: (_buffer, length) => {
        bytes += length;
        if (bytes === FLOOD_BYTES) flood.resolve();
      },
      onOutput: () => {},
      onBackground: () => {},
      onExit: exit.resolve,
    });
  return { worker, listen, exit: exit.promise, flood: flood.promise };
}

test.each([
  ["process.stderr.write('worker: no snapshot\\nmore\\n')", "no snapshot"],
  ["process.stderr.write('node: bad option: --x\\n\\n')", "node: bad option: --x"],
  ["0", "it ended at once"],
])("it says why it ended at its start: %s", async (code, why) => {
  const { worker } = start(code);
  expect(await worker.ready).toBe(false);
  expect(worker.startError).toBe(why);
});

test("memory is watched while no code runs", async () => {
  const { listen, exit } = start("setInterval(() => {}, 1000)", { memoryOf: () => 2 });
  listen();
  expect(await exit).toEqual({ kind: "signal", signal: 9, reason: "memory" });
});

test("a flood of events that nobody listens to makes it wait, and nothing is lost", async () => {
  const { worker, listen, exit, flood } = start(FLOOD);
  expect(await worker.ready).toBe(true);
  listen();
  await flood;
  worker.kill("closed");
  expect(await exit).toMatchObject({ reason: "closed" });
});

test("it is gone when it was killed, though nobody listened to its flood", async () => {
  const { worker } = start(FLOOD);
  expect(await worker.ready).toBe(true);
  worker.kill("closed");
  await worker.gone;
  expect(worker.ended).toBe(true);
});

test("a program that cannot be started has ended", async () => {
  const { worker, listen, exit } = start("", { executable: "/nowhere/node" });
  listen();
  expect(await worker.ready).toBe(false);
  expect(await exit).toEqual({ kind: "code", code: 1, reason: null });
});
