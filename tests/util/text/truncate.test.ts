import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ByteSource } from "../../../src/util/bytes/byte-source.ts";
import { pageOutput, truncateOutput } from "../../../src/util/text/truncate.ts";

const hint = (offset: number): string => `read on with shell_status(task_id="t7", offset=${offset})`;
const MARKER = /\n?\[… ([\d,]+) of ([\d,]+) bytes omitted; read on with shell_status\(task_id="t7", offset=(\d+)\)\]\n/;

/** Of a surrogate pair, without the other. */
const HALF = /\p{Surrogate}/u;

function bytesSource(bytes: Uint8Array, droppedBytes = 0): ByteSource {
  const buffer = Buffer.from(bytes);
  return {
    totalBytes: buffer.length + droppedBytes,
    readableBytes: buffer.length,
    read: (offset, length) => buffer.subarray(offset, offset + length),
  };
}

function textSource(text: string): ByteSource {
  return bytesSource(Buffer.from(text, "utf8"));
}

/** Every page from an offset on. */
function pagesOf(source: ByteSource, maxCharacters: number, from = 0): { text: string; offset: number }[] {
  const pages = [];
  for (let offset: number | null = from; offset !== null;) {
    const { text, nextOffset } = pageOutput(source, { offset, maxCharacters });
    pages.push({ text, offset });
    if (nextOffset !== null) expect(nextOffset).toBeGreaterThan(offset);
    offset = nextOffset;
  }
  return pages;
}

const numbered = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`).join("");

const line = fc.string({ unit: "grapheme", maxLength: 120 }).map((text) => text.replaceAll(/\p{Cc}/gu, "·"));
/** Nothing in it to clean: lines of all lengths, some far longer than a page. */
const plain = fc
  .array(fc.oneof({ weight: 8, arbitrary: line }, { weight: 1, arbitrary: line.map((text) => text.repeat(40)) }), {
    maxLength: 60,
  })
  .map((lines) => lines.join("\n"));
const wild = fc
  .array(
    fc.oneof(
      plain.map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom("\u001B[31m", "\u001B[2K", "\u001B[A", "\r", "\u001B]8;;", "\n").map((text) => Buffer.from(text)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => Buffer.concat(parts));
const size = fc.integer({ min: 200, max: 1500 });

describe("truncateOutput()", () => {
  test("gives what fits as it is, cleaned", () => {
    expect(truncateOutput(textSource("a\u001B[31mb\u001B[m\n"), { maxCharacters: 200, hint })).toEqual({
      text: "ab\n",
      isCut: false,
    });
    expect(truncateOutput(textSource(""), { maxCharacters: 200, hint })).toEqual({ text: "", isCut: false });
  });

  test("gives beginning and end in whole lines, and between them how much is missing and how to read it", () => {
    const { text, isCut } = truncateOutput(textSource(numbered), { maxCharacters: 300, hint });
    expect(isCut).toBe(true);
    expect(text).toBe(
      `${Array.from({ length: 16 }, (_, index) => `line ${index}\n`).join("")}[… 48,692 of 48,890 bytes omitted; read on with shell_status(task_id="t7", offset=118)]\n${Array.from({ length: 8 }, (_, index) => `line ${index + 4992}\n`).join("")}`,
    );
  });

  test("1 MB gives at most 10,000 characters, most of them of the output", () => {
    const { text } = truncateOutput(textSource("0123456789".repeat(100_000)), { maxCharacters: 10_000, hint });
    expect(text.length).toBeLessThanOrEqual(10_000);
    expect(text.length).toBeGreaterThan(9_900);
  });

  test("is never longer than asked and breaks no character, whatever was printed", () => {
    fc.assert(
      fc.property(wild, size, fc.nat({ max: 1_000_000_000 }), (bytes, maxCharacters, dropped) => {
        const { text, isCut } = truncateOutput(bytesSource(bytes, dropped), { maxCharacters, hint });
        expect(text.length).toBeLessThanOrEqual(maxCharacters);
        expect(text).not.toMatch(HALF);
        if (dropped > 0) expect({ text, isCut }).toEqual({ text: expect.stringContaining("dropped]\n"), isCut: true });
      }),
    );
  });

  test("shows a prefix and a suffix of what was printed, and counts exactly what is between", () => {
    fc.assert(
      fc.property(plain, size, (printed, maxCharacters) => {
        const { text, isCut } = truncateOutput(textSource(printed), { maxCharacters, hint });
        expect(isCut).toBe(printed.length > maxCharacters);
        if (!isCut) {
          expect(text).toBe(printed);
          return;
        }
        const [marker = "", omitted = "", total = "", offset = ""] = MARKER.exec(text) ?? [];
        const place = text.indexOf(marker);
        const [start, tail] = [text.slice(0, place), text.slice(place + marker.length)];
        const head =
          printed.startsWith(`${start}\n`) && Buffer.byteLength(start) < Number(offset) ? `${start}\n` : start;
        expect(printed.startsWith(head)).toBe(true);
        expect(printed.endsWith(tail)).toBe(true);
        expect(Number(offset)).toBe(Buffer.byteLength(head));
        expect(total).toBe(Buffer.byteLength(printed).toLocaleString("en-US"));
        expect(omitted).toBe(
          Buffer.byteLength(printed.slice(head.length, -tail.length || undefined)).toLocaleString("en-US"),
        );
      }),
    );
  });

  test("has no character that was not printed, where lines are long", () => {
    const { text } = truncateOutput(textSource("é漢👋".repeat(3000)), { maxCharacters: 500, hint });
    expect(text.replace(MARKER, "")).toMatch(/^(?:é|漢|👋)+$/u);
    expect(text.length).toBeGreaterThan(480);
  });

  test("shows the last state of a progress bar whose states alone are far too much", () => {
    const bar = Array.from({ length: 20_000 }, (_, index) => `\r${index} of 20000 \u001B[32m#####\u001B[m`).join("");
    const { text } = truncateOutput(textSource(`start\n${bar}\nend\n`), { maxCharacters: 400, hint });
    expect(text.replace(MARKER, "|")).toMatch(/^start\n\d+ of 20000 #####\|19999 of 20000 #####\nend\n$/);
  });

  test("does not cut inside a terminal command", () => {
    const coloured = "\u001B[38;5;123mab\u001B[m".repeat(5000);
    const { text } = truncateOutput(textSource(coloured), { maxCharacters: 1000, hint });
    expect(text.replace(MARKER, "")).toMatch(/^[ab]+$/);
    for (const page of pagesOf(textSource(coloured), 300)) expect(page.text).toMatch(/^[ab]+$/);
  });

  test("reads a few bytes for each character, of however many there are", () => {
    let read = 0;
    const source: ByteSource = {
      totalBytes: 2 ** 40,
      readableBytes: 2 ** 28,
      read: (_, length) => {
        read += length;
        return Buffer.alloc(length, "abc\n");
      },
    };
    const { text } = truncateOutput(source, { maxCharacters: 10_000, hint });
    expect(text).toContain("[… another 1,099,243,192,320 bytes were printed, and dropped]\n");
    pageOutput(source, { offset: 1_000_000, maxCharacters: 10_000 });
    expect(read).toBeLessThanOrEqual(200_000);
  });

  test("leaves the call out where there is no room for it", () => {
    const { text } = truncateOutput(textSource(numbered), { maxCharacters: 200, hint: () => "x".repeat(5000) });
    expect(text).toMatch(/\n\[… [\d,]+ of 48,890 bytes omitted\]\n/);
    expect(text.length).toBeLessThanOrEqual(200);
  });
});

describe("pageOutput()", () => {
  test("gives whole lines, and where the next page begins", () => {
    expect(pageOutput(textSource("one\n".repeat(100)), { offset: 4, maxCharacters: 201 })).toEqual({
      text: "one\n".repeat(50),
      nextOffset: 204,
    });
    expect(pageOutput(textSource("one\n"), { offset: 0, maxCharacters: 200 })).toEqual({
      text: "one\n",
      nextOffset: null,
    });
    expect(pageOutput(textSource("one\n"), { offset: 99, maxCharacters: 200 })).toEqual({ text: "", nextOffset: null });
  });

  test("pages together are what was printed, from any offset between characters", () => {
    fc.assert(
      fc.property(plain, size, fc.nat(), (printed, maxCharacters, seed) => {
        const from = printed.slice(0, seed % (printed.length + 1)).replace(HALF, "");
        const pages = pagesOf(textSource(printed), maxCharacters, Buffer.byteLength(from));
        expect(pages.map(({ text }) => text).join("")).toBe(printed.slice(from.length));
      }),
    );
  });

  test("pages end, keep their size and break no character, whatever was printed and wherever they begin", () => {
    fc.assert(
      fc.property(wild, size, fc.nat({ max: 3000 }), fc.nat({ max: 1000 }), (bytes, maxCharacters, from, dropped) => {
        const pages = pagesOf(bytesSource(bytes, dropped), maxCharacters, from);
        expect(pages.length).toBeLessThanOrEqual(bytes.length / 50 + 4);
        for (const { text } of pages) {
          expect(text.length).toBeLessThanOrEqual(maxCharacters);
          expect(text).not.toMatch(HALF);
        }
        expect(pages.at(-1)?.text.endsWith("dropped]\n")).toBe(dropped > 0);
      }),
    );
  });

  test("bytes that are no UTF-8 are replaced, one cut or none", () => {
    const bytes = Buffer.from("f09f918bc3e28280ff80808080e2".repeat(200), "hex");
    expect(
      pagesOf(bytesSource(bytes), 200)
        .map(({ text }) => text)
        .join("").length,
    ).toBe(bytes.toString("utf8").replaceAll(/[\u0080-\u009F]/g, "").length);
  });

  test("an offset inside of a character begins with the next one", () => {
    expect(pageOutput(textSource("é漢x"), { offset: 3, maxCharacters: 200 })).toEqual({ text: "x", nextOffset: null });
  });
});

test("recorded output of real programs is shown as a terminal would show it", () => {
  const folder = join(import.meta.dirname, "../../fixtures/terminal");
  const written = readFileSync(join(folder, "pip.written.txt"));
  expect(truncateOutput(bytesSource(written), { maxCharacters: 2000, hint })).toEqual({
    text: readFileSync(join(folder, "pip.shown.txt"), "utf8"),
    isCut: false,
  });
});
