import { describe, expect, test } from "vitest";
import { readImageSize } from "../../../web/src/parts/rich/image/image-size.ts";
import { makePng } from "../../make-png.ts";

const decode = (base64: string): Uint8Array => Buffer.from(base64, "base64");
/** Of 5 × 3 pixels. */
const GIF = decode("R0lGODdhBQADAIEAAAAAAAAAAAAAAAAAACwAAAAABQADAAAIBQABCBQYEAA7");
const WEBP = decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoFAAMAAUAmJaQAA3AA/v02aAA=");

describe("readImageSize()", () => {
  test("reads the size of a picture", () => {
    expect(readImageSize("image/png", makePng({ width: 7, height: 4 }))).toEqual({ width: 7, height: 4 });
    expect(readImageSize("image/gif", GIF)).toEqual({ width: 5, height: 3 });
    expect(readImageSize("image/webp", WEBP)).toEqual({ width: 5, height: 3 });
  });

  test("finds the frame header of a JPEG behind other segments", () => {
    const segment = (marker: number, ...content: readonly number[]): number[] => [
      0xff,
      marker,
      0,
      content.length + 2,
      ...content,
    ];
    const jpeg = [0xff, 0xd8, ...segment(0xe0, 1, 2, 3), ...segment(0xc4, 9), ...segment(0xc2, 8, 0, 30, 1, 0, 3)];
    expect(readImageSize("image/jpeg", Uint8Array.from(jpeg))).toEqual({ width: 256, height: 30 });
  });

  test.each(["image/png", "image/gif", "image/jpeg", "image/webp", "image/svg+xml"])(
    "%s: what is cut or other is refused",
    (type) => {
      expect(readImageSize(type, new Uint8Array(0))).toBeUndefined();
      expect(readImageSize(type, Uint8Array.from(Buffer.from("<script>alert(1)</script>".repeat(4))))).toBeUndefined();
      expect(readImageSize(type, makePng({ width: 1, height: 1 }).subarray(0, 18))).toBeUndefined();
      expect(readImageSize(type, Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0))).toBeUndefined();
    },
  );
});
