import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { LogWriter } from "../../src/server/log-writer.ts";
import { openLog } from "../../src/server/log.ts";

/** Takes what it is given at once, or never. */
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

test("a line is JSON with level, time and what happened", async () => {
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

test("for people it is one line, whatever is quoted in it", async () => {
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

test("a reader that takes nothing costs a bounded amount, nobody waits, and what was dropped is counted", async () => {
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
