import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutOutput } from "../../../src/rlm/session/cut-output.ts";
import type { ByteSource } from "../../../src/util/bytes/byte-source.ts";

const name = "_out[3]";
const MARKER = /\n?… ([\d,]+) of ([\d,]+) characters omitted; the whole is in _out\[3\] …\n/;
const HALF = /\p{Surrogate}/u;

/** Characters as Python counts them. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

const line = fc.string({ unit: "grapheme", maxLength: 120 }).map((text) => text.replaceAll(/\p{Cc}/gu, "·"));
const plain = fc
  .array(fc.oneof({ weight: 8, arbitrary: line }, { weight: 1, arbitrary: line.map((text) => text.repeat(40)) }), {
    maxLength: 60,
  })
  .map((lines) => lines.join("\n"));
const size = fc.integer({ min: 200, max: 1500 });

describe("cutOutput()", () => {
  test("returns short output as it is, without colours", () => {
    expect(cutOutput("a\u001B[31mb\u001B[m\n", { name })).toEqual({ text: "ab\n", isCut: false });
    expect(cutOutput("", { name })).toEqual({ text: "", isCut: false });
    expect(cutOutput("x".repeat(10_000), { name }).isCut).toBe(false);
  });

  test("returns head and tail, with exact counts and the variable that holds the whole", () => {
    const { text, isCut } = cutOutput("x".repeat(41_310), { name });
    expect(isCut).toBe(true);
    expect(text.length).toBeLessThanOrEqual(10_000);
    const [head, marker, tail] = text.split("\n");
    expect(marker).toBe("… 31,377 of 41,310 characters omitted; the whole is in _out[3] …");
    expect([head?.length, tail?.length]).toEqual([5959, 3974]);
  });

  test("cuts at the ends of lines where they are short", () => {
    const printed = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`).join("");
    const { text } = cutOutput(printed, { name, maxCharacters: 300 });
    expect(text).toMatch(/^line 0\n(?:line \d+\n)+… 48,\d{3} of 48,890 characters omitted; [^\n]+\n(?:line \d+\n)+$/);
    expect(text.endsWith("line 4999\n")).toBe(true);
  });

  test("shows a prefix and a suffix, splits no character and counts exactly what is omitted", () => {
    fc.assert(
      fc.property(plain, size, (printed, maxCharacters) => {
        const { text, isCut } = cutOutput(printed, { name, maxCharacters });
        expect(text.length).toBeLessThanOrEqual(maxCharacters);
        expect(text).not.toMatch(HALF);
        expect(isCut).toBe(printed.length > maxCharacters);
        if (!isCut) {
          expect(text).toBe(printed);
          return;
        }
        const [marker = "", omitted = "", total = ""] = MARKER.exec(text) ?? [];
        const place = text.indexOf(marker);
        const tail = text.slice(place + marker.length);
        const omittedCount = Number(omitted.replaceAll(",", ""));
        expect(total).toBe(lengthOf(printed).toLocaleString("en-US"));
        const head = Array.from(printed)
          .slice(0, lengthOf(printed) - omittedCount - lengthOf(tail))
          .join("");
        expect(printed.startsWith(head)).toBe(true);
        expect(head.replace(/\n+$/, "")).toBe(text.slice(0, place).replace(/\n+$/, "")); // the marker has one of its own
        expect(printed.endsWith(tail)).toBe(true);
      }),
    );
  });

  test("counts bytes where output is too long, or not all readable", () => {
    const source = (totalBytes: number, readableBytes: number): ByteSource => ({
      totalBytes,
      readableBytes,
      read: (offset, length) => Buffer.alloc(Math.max(0, Math.min(length, readableBytes - offset)), "é"),
    });
    const huge = cutOutput(source(2 ** 28, 2 ** 28), { name });
    expect(huge.text).toMatch(/… 268,4\d\d,\d{3} of 268,435,456 bytes omitted; the whole is in _out\[3\] …\n/);
    const dropped = cutOutput(source(2_000_000, 1_000_000), { name });
    expect(dropped.text).toMatch(/… 9\d\d,\d{3} of 2,000,000 bytes omitted; the whole/);
    expect(dropped.text).toContain("[… another 1,000,000 bytes were printed, and dropped]\n");
    expect(cutOutput(source(4_000_000, 4_000_000), { name }).text).toContain(" of 2,000,000 characters omitted");
  });

  test("omits the name where there is no space for it", () => {
    const { text } = cutOutput("x".repeat(5000), { name: "y".repeat(500), maxCharacters: 200 });
    expect(text).toMatch(/^x+\n… 4,\d{3} of 5,000 characters omitted …\nx+$/);
  });
});
