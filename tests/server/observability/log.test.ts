import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { LogFile } from "../../../src/server/observability/log-file.ts";
import { LogWriter } from "../../../src/server/observability/log-writer.ts";
import { openLog } from "../../../src/server/observability/log.ts";

/** Accepts everything at once, or nothing. */
class Sink extends Writable {
  text = "";
  readonly #takes: boolean;
  #release: (() => void) | undefined;

  constructor(takes = true) {
    super({ decodeStrings: false });
    this.#takes = takes;
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    if (this.#takes) done();
    else this.#release = done;
  }

  /** What waited is taken. */
  release(): void {
    this.#release?.();
  }
}

test("a line is JSON with level, time and event", async () => {
  const sink = new Sink();
  const log = openLog({ level: "info", format: "json", sink });
  log.write("info", "request", { status: 200, route: "/v1/x" });
  await log.end();
  expect(sink.text.endsWith("}\n")).toBe(true);
  expect(JSON.parse(sink.text)).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    event: "request",
    status: 200,
    route: "/v1/x",
  });
});

test("the text format has one line per event, whatever it contains", async () => {
  const sink = new Sink();
  const log = openLog({ level: "info", format: "text", sink });
  log.write("warn", "unexpected", { error: "two\nlines \u001B]0;title\u0007", route: "/v1/{id}" });
  await log.end();
  expect(sink.text).toMatch(/^\S+Z warn {2}unexpected error="two\\nlines " route=\/v1\/\{id\}\n$/);
});

test.each([
  ["error", 1],
  ["warn", 2],
  ["info", 3],
  ["debug", 4],
] as const)("the level %s lets %i of four through", async (level, count) => {
  const sink = new Sink();
  const log = openLog({ level, format: "json", sink });
  for (const at of ["error", "warn", "info", "debug"] as const) log.write(at, "thing");
  await log.end();
  expect(sink.text.split("\n").length - 1).toBe(count);
});

test("a stuck reader costs limited memory, blocks nothing, and dropped lines are counted", async () => {
  const sink = new Sink(false);
  const writer = new LogWriter(sink, (count) => `dropped ${count}\n`);
  const line = `${"x".repeat(999)}\n`;
  for (let number = 0; number < 10_000; number += 1) writer.write(line);
  writer.flush();
  expect(sink.writableLength).toBeLessThanOrEqual(1024 * 1024);
  while (sink.writableLength > 0) {
    sink.release();
    await new Promise(setImmediate);
  }
  const taken = sink.text.length / 1000;
  writer.write("after\n");
  writer.flush();
  expect(sink.text.slice(-30)).toContain(`dropped ${10_000 - taken}\nafter\n`);
});

describe("a full disk", () => {
  /** A disk with limited space. */
  function openDisk(room: number) {
    const disk = { text: "", room, complaints: [] as string[] };
    const file = new LogFile(-1, {
      onFail: ({ message }) => void disk.complaints.push(message),
      append: async (bytes) => {
        const count = Math.min(bytes.length, disk.room);
        if (count === 0) throw new Error("ENOSPC");
        disk.room -= count;
        disk.text += bytes.subarray(0, count).toString();
        return count;
      },
    });
    const writer = new LogWriter(file, (count) => `dropped ${count}\n`);
    const write = async (line: string): Promise<void> => {
      writer.write(line);
      await writer.end(10_000);
    };
    return { disk, writer, write };
  }

  test("does not end the log: it recovers, tears no line, and reports how many were dropped", async () => {
    const { disk, write } = openDisk(10);
    await write("one\n");
    await write("three four\n"); // its second half comes later
    for (const line of ["five\n", "six\n", "seven\n"]) await write(line);
    expect([disk.text, disk.complaints]).toEqual(["one\nthree ", ["ENOSPC"]]);
    disk.room = 1000;
    await write("eight\n");
    expect(disk.text).toBe("one\nthree four\ndropped 3\neight\n");
    disk.room = 0;
    for (const line of ["nine\n", "ten\n"]) await write(line);
    expect(disk.complaints).toEqual(["ENOSPC", "ENOSPC"]);
    disk.room = 1000;
    await write("eleven\n");
    expect(disk.text).toMatch(/eight\ndropped 2\neleven\n$/);
  });

  test("counts a dropped line once, however often the report itself was dropped", async () => {
    const { disk, writer, write } = openDisk(0);
    const tooLong = "x".repeat(2 * 1024 * 1024);
    for (const line of [tooLong, tooLong, "three\n", tooLong, "five\n"]) writer.write(line); // the long ones are counted
    await writer.end(10_000);
    disk.room = 1000;
    await write("six\n");
    expect(disk.text).toBe("dropped 5\nsix\n");
  });

  test("costs limited memory, however much is written", async () => {
    const { disk, writer } = openDisk(0);
    for (let number = 0; number < 100_000; number += 1) writer.write(`${"x".repeat(99)}\n`);
    await writer.end(10_000);
    disk.room = 1000;
    writer.write("after\n");
    await writer.end(10_000);
    expect(disk.text).toBe("dropped 100000\nafter\n");
  });
});
