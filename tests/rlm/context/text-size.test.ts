import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureText, type TextSize } from "../../../src/rlm/context/text-size.ts";
import { Folder } from "../../config/folder.ts";

const { signal } = new AbortController();
const MIB = 2 ** 20;

async function sizeOf(content: string | Buffer): Promise<TextSize> {
  using folder = new Folder();
  return await measureText(folder.write("file", content), undefined, signal);
}

const once = (bytes: number, width: TextSize["width"]): TextSize => ({ bytes, peakBytes: bytes, width });

describe("measureText()", () => {
  test.each([
    ["nothing", "", once(0, 1)],
    ["ASCII", "abc", once(3, 1)],
    ["Latin-1", "é", once(1, 1)],
    ["up to U+FFFF", "€", once(2, 2)],
    ["beyond it", "😀", once(4, 4)],
    ["all of them", "aé€😀", once(16, 4)],
  ])("%s", async (_, text, size) => {
    expect(await sizeOf(text)).toEqual(size);
  });

  test("a wider character behind a mebibyte means a copy", async () => {
    const before = "a".repeat(MIB);
    expect(await sizeOf(`${before}é`)).toEqual({ bytes: MIB + 1, peakBytes: 2 * MIB + 1, width: 1 });
    expect(await sizeOf(`${before}b€`)).toEqual({ bytes: 2 * MIB + 4, peakBytes: 3 * MIB + 4, width: 2 });
    expect(await sizeOf(`${"é".repeat(MIB)}é`)).toEqual(once(MIB + 1, 1));
  });

  test.each([MIB - 1, MIB - 2, MIB - 3])("a character may be split behind %d bytes", async (before) => {
    expect(await sizeOf(`${"a".repeat(before)}😀`)).toMatchObject({ bytes: 4 * (before + 1), width: 4 });
  });

  test.each([
    ["a byte of no character", Buffer.from([0x61, 0xff, 0x61])],
    ["a character that is cut off", Buffer.from([0x61, 0xe2, 0x82])],
    ["a late byte of no character", Buffer.concat([Buffer.alloc(MIB + 1, "a"), Buffer.from([0xe9, 0x61])])],
  ])("%s makes it bytes", async (_, bytes) => {
    expect(await sizeOf(bytes)).toEqual(once(bytes.length, 0));
  });

  test("measures a part", async () => {
    using folder = new Folder({ a: "aa€€bb" });
    expect(await measureText(folder.at("a"), { offset: 2, length: 6 }, signal)).toEqual(once(4, 2));
  });

  test("counts as Python does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        const characters = Array.from(text);
        const highest = Math.max(0, ...characters.map((character) => character.codePointAt(0) ?? 0));
        const width = highest > 0xffff ? 4 : highest > 0xff ? 2 : 1;
        expect(await sizeOf(text)).toEqual(once(characters.length * width, width));
      }),
      { numRuns: 50 },
    );
  });
});
