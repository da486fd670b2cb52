import { writeSync } from "node:fs";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { OutputLog } from "../../src/output/output-log.ts";
import { SpillFiles, type SpillOptions } from "../../src/output/spill-file.ts";

const MIB = 2 ** 20;
const KEPT = 1000;
let files: SpillFiles;
afterEach(() => files.close());

function openLog(readableBytes = 100 * MIB): OutputLog {
  return new OutputLog({ keptBytes: KEPT, readableBytes, files });
}

function open(options: SpillOptions): void {
  files = new SpillFiles(options);
}

/** A log with this much output, of one character. */
function print(character: string, bytes: number): OutputLog {
  const log = openLog();
  append(log, character, bytes);
  return log;
}

function append(log: OutputLog, character: string, bytes: number): void {
  const chunk = Buffer.alloc(65_536, character);
  for (let left = bytes; left > 0; left -= chunk.length) log.append(chunk.subarray(0, Math.min(left, chunk.length)));
}

/** A disk with room for so many bytes; a file that shrinks gives nothing back. */
function fullDisk(bytes: number): typeof writeSync {
  let left = bytes;
  return ((fd: number, data: Buffer, offset: number, length: number, position: number) => {
    if (left === 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    const written = writeSync(fd, data, offset, Math.min(length, left), position);
    left -= written;
    return written;
  }) as typeof writeSync;
}

test("all output together takes no more than the limit: what ended longest ago is dropped first, from its end on", () => {
  open({ maxBytes: 20 * MIB });
  const [oldest, old] = [print("a", 8 * MIB), print("b", 8 * MIB)];
  oldest.finish();
  old.finish();
  const running = print("c", 10 * MIB);
  expect(files.usedBytes).toBeLessThanOrEqual(20 * MIB);
  expect(running.readable).toBe(10 * MIB);
  expect(old.readable).toBe(8 * MIB);
  expect(oldest.readable).toBeLessThanOrEqual(2 * MIB);
  expect(oldest.read(0, MIB).every((byte) => byte === 97)).toBe(true);
  append(running, "c", 10 * MIB);
  expect(files.usedBytes).toBeLessThanOrEqual(20 * MIB);
  expect(running.readable).toBe(20 * MIB);
  // What a result keeps is left of both.
  for (const [log, character] of [
    [oldest, "a"],
    [old, "b"],
  ] as const) {
    expect(log.readable).toBe(KEPT / 2);
    expect(log.summary()).toEqual({
      text: `${character.repeat(500)}\n… 8,387,608 bytes omitted …\n${character.repeat(500)}`,
      cut: { total: 8 * MIB, omitted: 8 * MIB - KEPT },
    });
  }
});

test("where no output has ended, what comes is dropped and counted, and stays dropped", () => {
  open({ maxBytes: 4 * MIB });
  const [first, second] = [print("a", 3 * MIB), print("b", 3 * MIB)];
  expect([first.readable, second.readable]).toEqual([3 * MIB, MIB]);
  first.close();
  append(second, "c", MIB);
  expect(second.readable).toBe(MIB); // bytes between were dropped
  expect(second.summary()).toMatchObject({ cut: { total: 4 * MIB, omitted: 4 * MIB - KEPT } });
  expect(second.summary().text).toMatch(/^b{500}\n[^\n]*\nc{500}$/);
});

test("output that comes after the end is stored, and is not dropped for itself", () => {
  open({ maxBytes: 4 * MIB });
  const log = print("a", MIB);
  log.finish();
  append(log, "b", 5 * MIB);
  expect(log.readable).toBe(4 * MIB);
  expect(log.summary().cut).toEqual({ total: 6 * MIB, omitted: 6 * MIB - KEPT });
});

test("space of closed logs is used again, also that of files kept for reuse", () => {
  open({ maxBytes: 4 * MIB });
  for (let round = 0; round < 5; round += 1) {
    const [one, other] = [print("a", 2 * MIB), print("b", 2 * MIB)];
    expect([one.readable, other.readable]).toEqual([2 * MIB, 2 * MIB]);
    one.close();
    other.close();
    const alone = print("c", 4 * MIB);
    expect(alone.readable).toBe(4 * MIB);
    alone.close();
  }
});

test.each([
  ["", 3 * MIB],
  ["in the middle of a chunk ", 3 * MIB - 5000],
])("a disk that is full %sdrops and counts what comes, and is no error", (_, room) => {
  open({ write: fullDisk(room) });
  const log = print("a", 5 * MIB);
  expect(log.readable).toBe(room);
  expect(files.usedBytes).toBe(room);
  expect(log.read(0, 10 * MIB).equals(Buffer.alloc(room, "a"))).toBe(true);
  expect(log.summary().cut).toEqual({ total: 5 * MIB, omitted: 5 * MIB - KEPT });
  const other = print("b", 2 * MIB); // cannot even begin a file
  expect(other.readable).toBe(KEPT);
  expect(other.summary().text).toMatch(/^b{500}\n[^\n]*\nb{500}$/);
});

test("a full disk takes space from output that has ended", () => {
  let isFull = false;
  open({
    write: ((...args: Parameters<typeof writeSync>) => {
      if (isFull && files.usedBytes > 8 * MIB) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return writeSync(...args);
    }) as typeof writeSync,
  });
  const ended = print("a", 8 * MIB - KEPT);
  ended.finish();
  isFull = true;
  const log = print("b", 6 * MIB);
  expect(log.readable).toBe(6 * MIB);
  expect(ended.readable).toBeLessThan(3 * MIB);
});

test("whatever is printed, finished and closed, logs show only their own bytes, and the limit holds", () => {
  const step = fc.record({
    log: fc.nat(4),
    action: fc.constantFrom("append", "append", "append", "finish", "close"),
    bytes: fc.nat(3000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      files?.close();
      open({ maxBytes: 6000 });
      const logs = Array.from({ length: 5 }, () => openLog(4000));
      for (const { log: index, action, bytes } of steps) {
        if (action === "append") logs[index]?.append(Buffer.alloc(bytes, `${index}`));
        else logs[index]?.[action]();
        expect(files.usedBytes).toBeLessThanOrEqual(6000);
      }
      for (const [index, log] of logs.entries()) {
        const appended = steps.filter((each) => each.log === index && each.action === "append");
        expect(log.total).toBe(appended.reduce((sum, { bytes }) => sum + bytes, 0));
        const shown = log.read(0, 10_000);
        expect(shown).toEqual(Buffer.alloc(log.readable, `${index}`));
        const { text, cut } = log.summary();
        if (cut !== null) expect(text.replace(/\n… [\d,]+ bytes omitted …\n/, "")).toMatch(new RegExp(`^${index}*$`));
        log.close();
      }
      expect(files.usedBytes).toBeLessThanOrEqual(6000);
    }),
  );
});
