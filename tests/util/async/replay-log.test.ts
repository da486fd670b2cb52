import { expect, test } from "vitest";
import { ReplayLog } from "../../../src/util/async/replay-log.ts";

class Numbers extends ReplayLog<number, { at: number; toString(): string }> {
  readonly #numbers: number[] = [];
  push(value: number): void {
    this.#numbers.push(value);
    this.notifyReaders();
  }
  finish(): void {
    this.complete();
  }
  protected override openCursor(after = "0") {
    return /^\d$/.test(after) ? { at: Number(after), toString: (): string => after } : undefined;
  }
  protected override next(cursor: { at: number }): number | undefined {
    const value = this.#numbers[cursor.at];
    if (value !== undefined) cursor.at += 1;
    return value;
  }
}

async function read(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test("ReplayLog gives every reader all events, whether it starts early or late", async () => {
  const log = new Numbers();
  const early = read(log);
  log.push(1);
  await Promise.resolve();
  log.push(2);
  log.finish();
  expect([await early, await read(log)]).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test("ReplayLog.follow() resumes after a cursor, and refuses an invalid one", async () => {
  const log = new Numbers();
  log.push(1);
  log.push(2);
  log.finish();
  expect(await read(log.follow({ after: "1" }))).toEqual([{ event: 2, cursor: "1" }]);
  expect(() => log.follow({ after: "x" })).toThrow("Cannot resume after 'x': it is not a cursor of this event stream");
});

test("ReplayLog.follow() ends without an error when its signal is aborted", async () => {
  const log = new Numbers();
  log.push(1);
  const controller = new AbortController();
  const reading = read(log.follow({ signal: controller.signal }));
  await new Promise(setImmediate);
  controller.abort();
  expect(await reading).toHaveLength(1);
});
