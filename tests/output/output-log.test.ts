import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { liveMiB } from "../hostile/live-memory.ts";
import { OutputLog } from "../../src/output/output-log.ts";
import { SpillFiles } from "../../src/output/spill-file.ts";

// Shared: the next log reuses the files, and must read only its own bytes.
const files = new SpillFiles();
afterAll(() => files.close());

const chunks = fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 60 });

test("OutputLog keeps every byte up to the limit readable by offset, whatever the chunks", () => {
  fc.assert(
    fc.property(chunks, fc.nat(200), fc.nat(200), (texts, offset, length) => {
      const log = new OutputLog({ keptBytes: 100, readableBytes: 400, files });
      const all = Buffer.concat(texts.map((text) => Buffer.from(text)));
      for (const text of texts) log.append(Buffer.from(text));
      expect(log.total).toBe(all.length);
      expect(log.readable).toBe(all.length <= 100 ? all.length : Math.min(all.length, 400));
      expect(log.read(offset, length)).toEqual(all.subarray(0, log.readable).subarray(offset, offset + length));
      log.close();
    }),
  );
});

test("summary() is the whole output, or its beginning and end with the omitted bytes counted", () => {
  fc.assert(
    fc.property(
      chunks,
      fc.integer({ min: 20, max: 200 }),
      fc.integer({ min: 0, max: 300 }),
      (texts, keptBytes, extra) => {
        const log = new OutputLog({ keptBytes, readableBytes: keptBytes + extra, files });
        const all = texts.join("");
        for (const text of texts) log.append(Buffer.from(text));
        const { text, cut } = log.summary();
        const total = Buffer.byteLength(all);
        if (cut === null) {
          expect(total).toBeLessThanOrEqual(keptBytes);
          expect(text).toBe(all);
        } else {
          const marker = `\n… ${cut.omitted.toLocaleString("en-US")} bytes omitted …\n`;
          const at = text.lastIndexOf(marker);
          const head = text.slice(0, at);
          const tail = text.slice(at + marker.length);
          expect(all.startsWith(head)).toBe(true);
          expect(all.endsWith(tail)).toBe(true);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + cut.omitted).toBe(total);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(keptBytes);
          expect(cut.total).toBe(total);
        }
        log.close();
      },
    ),
  );
});

test("a million tiny chunks take no more memory than their bytes", () => {
  const log = new OutputLog({ keptBytes: 1 << 20, readableBytes: 1 << 20, files });
  const before = liveMiB();
  const chunk = Buffer.from("x");
  for (let index = 0; index < 1_000_000; index += 1) log.append(chunk);
  expect(log.summary().cut).toBeNull();
  expect(liveMiB() - before).toBeLessThan(8);
  log.close();
});

test("a reused file shows nothing of its last user", () => {
  const first = new OutputLog({ keptBytes: 10, readableBytes: 1000, files });
  first.append(Buffer.from("secret".repeat(100)));
  first.close();
  const second = new OutputLog({ keptBytes: 10, readableBytes: 1000, files });
  second.append(Buffer.from("x".repeat(50)));
  expect(second.read(0, 1000).toString()).toBe("x".repeat(50));
  expect(second.read(50, 1000)).toHaveLength(0);
  expect(second.summary().text).not.toContain("secret");
  second.close();
});
