// A receiver of output makes the code that prints wait.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { OutputReceiver, Runtime } from "../../internals.ts";
import { deferred } from "../../../src/util/async/deferred.ts";
import { openTestRuntime } from "../../open.ts";

const MIB = 2 ** 20;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

/** Says on stderr when nothing more could be printed for a second. */
const WATCH = `
import sys, threading, time
count = 0
def watch():
    before = -1
    while count != before:
        before = count
        time.sleep(1)
    print("waiting", file=sys.stderr, flush=True)
threading.Thread(target=watch, daemon=True).start()
`;

test("output waits for its receiver, and comes in order with displays and questions", async () => {
  await using session = await runtime.openSession();
  const free = deferred();
  const parts: string[] = [];
  let bytes = 0;
  let bytesWhenWaiting = 0;
  const receiver: OutputReceiver = {
    onOutput: (stream, chunk) => {
      if (stream === "stderr") {
        bytesWhenWaiting = bytes;
        free.resolve();
        return undefined;
      }
      bytes += chunk.length;
      if (parts.at(-1) === "output") return free.promise;
      parts.push("output");
      return free.promise;
    },
    onDisplay: ({ data }) => {
      parts.push(data["text/plain"] ?? "");
      return new Promise((resolve) => setImmediate(resolve));
    },
  };
  const code = `${WATCH}
while count < 20:
    print("x" * 999_999)
    count += 1
    if count % 10 == 0: display(count)
print(input())`;
  const onInput = async (): Promise<string> => {
    parts.push("question");
    return "answer";
  };
  const result = await session.execute(code, { receiver, onInput }).result;
  expect(result.status).toBe("ok");
  expect(bytes).toBe(20_000_000 + "answer\n".length);
  expect(parts).toEqual(["output", "10", "output", "20", "question", "output"]);
  expect(bytesWhenWaiting).toBeLessThan(4 * MIB);
});

test("code that waits for its receiver is interrupted at once, and keeps its state", { tags: "stress" }, async () => {
  await using session = await runtime.openSession();
  const receiver: OutputReceiver = {
    onOutput: (stream) => {
      if (stream === "stderr") session.interrupt();
      return new Promise(() => {}); // takes no more
    },
    onDisplay: () => undefined,
  };
  const code = `${WATCH}\nwhile True:\n    print("x" * 1000)\n    count += 1`;
  const result = await session.execute(code, { receiver, timeoutMs: null }).result;
  expect(result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
  const next = await session.execute("print('next'); count > 0").result;
  expect(next).toMatchObject({ stdout: "next\n", value: { "text/plain": "True" } });
});

test(
  "code that prints on after an interrupt is ended after its grace, although nobody takes its output",
  { tags: "stress" },
  async () => {
    await using session = await runtime.openSession();
    let bytes = 0;
    const receiver: OutputReceiver = {
      onOutput: (_, chunk) => {
        bytes += chunk.length;
        return new Promise(() => {});
      },
      onDisplay: () => undefined,
    };
    const code = `while True:\n    try:\n        while True: print("x" * 1000)\n    except KeyboardInterrupt: pass`;
    const result = await session.execute(code, { receiver, timeoutMs: 2_000 }).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "lost" });
    expect(bytes).toBeLessThan(20 * MIB);
  },
);
