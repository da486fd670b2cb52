// The order of what code prints on both streams.

import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OutputStream, Runtime, Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
let session: Session;
beforeAll(async () => {
  runtime = await openTestRuntime();
  session = await runtime.openSession();
  (await session.execute("import os, sys, subprocess, threading").result).unwrap();
});
afterAll(() => runtime.close());

type Part = readonly [stream: OutputStream, text: string];

/** The output of both streams as events have it; neighbours of one stream are joined. */
async function printed(code: string, at = session): Promise<Part[]> {
  const execution = at.execute(code);
  const parts: [OutputStream, string][] = [];
  for await (const event of execution) {
    if (event.type !== "output-delta") continue;
    const last = parts.at(-1);
    if (last?.[0] === event.stream) last[1] += event.text;
    else parts.push([event.stream, event.text]);
  }
  (await execution.result).unwrap();
  return parts;
}

/** Neighbours of one stream are one part. */
function join(parts: readonly Part[]): Part[] {
  const joined: [OutputStream, string][] = [];
  for (const [stream, text] of parts) {
    const last = joined.at(-1);
    if (last?.[0] === stream) last[1] += text;
    else joined.push([stream, text]);
  }
  return joined;
}

const part = fc.tuple(
  fc.constantFrom("stdout" as const, "stderr" as const),
  fc.oneof(
    fc.string({ minLength: 1, maxLength: 8, unit: "binary" }),
    fc.constantFrom("line\n", "\n", "x".repeat(70_000), `${"y".repeat(3_000)}\n`),
  ),
);
const way = fc.constantFrom("print(t, end='', file=sys.{})", "sys.{}.write(t)", "w_{}(t)");

test("whatever code writes to sys.stdout and sys.stderr, by whatever way, comes in that order", async () => {
  await printed("w_stdout, w_stderr = sys.stdout.write, sys.stderr.write");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(part, way), { maxLength: 30 }), async (steps) => {
      const lines = steps.map(
        ([[stream, text], how]) => `t = ${JSON.stringify(text)}; _ = ${how.replaceAll("{}", stream)}`,
      );
      const code = [...lines, "t = _ = None"].join("\n");
      expect(await printed(code)).toEqual(join(steps.map(([each]) => each)));
    }),
    { numRuns: 60 },
  );
});

test("stdout and stderr stay apart in the result, and output() has both in order", async () => {
  const execution = session.execute("for i in range(3): print(i); print(-i, file=sys.stderr)");
  expect(await execution.result).toMatchObject({ stdout: "0\n1\n2\n", stderr: "0\n-1\n-2\n" });
  expect(execution.output().bytes.toString()).toBe("0\n0\n1\n-1\n2\n-2\n");
});

test("ten thousand lines in turns come in order", async () => {
  const parts = await printed("for i in range(5000): print('o', i); print('e', i, file=sys.stderr)");
  const expected = Array.from({ length: 5000 }, (_, i) => `o ${i}\ne ${i}\n`).join("");
  expect(parts.map(([, text]) => text).join("")).toBe(expected);
});

test("a flood of lines in turns loses and repeats nothing", async () => {
  const { stdout, stderr } = await session.execute("for i in range(30000): print(i); print(i, file=sys.stderr)").result;
  const expected = Array.from({ length: 30_000 }, (_, i) => `${i}\n`).join("");
  expect([stdout === expected, stderr === expected]).toEqual([true, true]);
});

test("what is printed before and after a process comes before and after its output", async () => {
  const run = "_ = subprocess.run('echo child >&2', shell=True)";
  for (let round = 0; round < 20; round += 1) {
    expect(await printed(`print('a')\n${run}\nprint('b')\nprint('c', file=sys.stderr)`)).toEqual([
      ["stdout", "a\n"],
      ["stderr", "child\n"],
      ["stdout", "b\n"],
      ["stderr", "c\n"],
    ]);
  }
});

test("writes to a descriptor lose nothing and do not disturb later executions", async () => {
  const code =
    "for i in range(200): os.write(1 + i % 2, b'raw\\n'); print(i, file=(sys.stdout, sys.stderr)[i % 3 == 0])";
  const { stdout, stderr } = await session.execute(code).result;
  const numbers = Array.from({ length: 200 }, (_, i) => i);
  const lines = (of: readonly number[]): string[] =>
    ["", ...of.map(String), ...Array<string>(100).fill("raw")].toSorted();
  expect(stdout.split("\n").toSorted()).toEqual(lines(numbers.filter((i) => i % 3 !== 0)));
  expect(stderr.split("\n").toSorted()).toEqual(lines(numbers.filter((i) => i % 3 === 0)));
  expect(await printed("print(1); print(2, file=sys.stderr); print(3)")).toEqual([
    ["stdout", "1\n"],
    ["stderr", "2\n"],
    ["stdout", "3\n"],
  ]);
});

/** What three threads printed on both streams: the lines of each on each. */
async function printInThreads(count: number): Promise<{ readonly got: string[]; readonly all: string[] }[]> {
  const code = `
def work(n):
    for i in range(${count}): print(f"{n}:{2 * i}\\n", end=""); print(f"{n}:{2 * i + 1}\\n", end="", file=sys.stderr)
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for t in threads: t.start()
for t in threads: t.join()`;
  const { stdout, stderr } = await session.execute(code).result;
  return [stdout, stderr].flatMap((text, odd) =>
    [0, 1, 2].map((thread) => ({
      got: text.split("\n").filter((line) => line.startsWith(`${thread}:`)),
      all: Array.from({ length: count }, (_, i) => `${thread}:${2 * i + odd}`),
    })),
  );
}

test("threads that print at once lose nothing, and each keeps its order on a stream", async () => {
  for (const { got, all } of await printInThreads(200)) expect(got).toEqual(all);
});

// Long enough for the flushes of the worker, every 10 ms, to meet those of the threads. A line that one thread has taken from the buffer of
// the stream can be overtaken by the next lines, so the order is not compared here.
test("threads that print at once for long lose nothing", { tags: "stress" }, async () => {
  for (let round = 0; round < 20; round += 1) {
    for (const { got, all } of await printInThreads(3000)) expect(got.toSorted()).toEqual(all.toSorted());
  }
});

test("a fork orders its own output", async () => {
  await using fork = await session.fork();
  const code = "print('a'); print('b', file=sys.stderr); print('c')";
  const expected = [
    ["stdout", "a\n"],
    ["stderr", "b\n"],
    ["stdout", "c\n"],
  ];
  expect(await Promise.all([printed(code), printed(code, fork)])).toEqual([expected, expected]);
});

test("code that is interrupted while it prints in turns repeats no line and loses none", async () => {
  await using other = await runtime.openSession();
  const code = "import sys\ni = 0\nwhile True: print(i); print(i, file=sys.stderr); i += 1";
  for (let round = 0; round < 5; round += 1) {
    const execution = other.execute(code);
    for await (const event of execution) if (event.type === "output-delta") break;
    execution.cancel();
    const { status, stdout, stderr } = await execution.result;
    expect(status).toBe("interrupted");
    for (const lines of [stdout, stderr].map((text) => text.split("\n").slice(0, -1))) {
      expect(lines.slice(0, 1000)).toEqual(lines.slice(0, 1000).map((_, i) => String(i)));
    }
  }
});

test("marks that code forges change the order of its own output, and nothing else", async () => {
  await using other = await runtime.openSession();
  const forge = `
import os, sys
marks = [(0, 0), (10**15, 0), (0, 10**15), (5, 5), (2**53 - 1, 2**53 - 1)]
def forge(fd):
    for out, err in marks: os.write(fd, b'{"type":"order","next":"stderr","stdout":%d,"stderr":%d}\\n' % (out, err))
for i in range(50):
    print("o", i); print("e", i, file=sys.stderr)
    forge(EVENTS)
`;
  const find =
    "import gc\nEVENTS = next(o.fd for o in gc.get_objects() if type(o).__name__ == 'Writer' and hasattr(o, 'send_frame'))";
  (await other.execute(find).result).unwrap();
  const { status, stdout, stderr } = await other.execute(forge).result;
  const lines = (name: string): string => Array.from({ length: 50 }, (_, i) => `${name} ${i}\n`).join("");
  expect({ status, stdout, stderr }).toEqual({ status: "ok", stdout: lines("o"), stderr: lines("e") });
  expect(await printed("print(1); print(2, file=sys.stderr); print(3)", other)).toEqual([
    ["stdout", "1\n"],
    ["stderr", "2\n"],
    ["stdout", "3\n"],
  ]);
});
