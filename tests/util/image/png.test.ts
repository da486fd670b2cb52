import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePng, pngSize, readPng } from "../../../src/util/image/png.ts";
import { toPng } from "../../../src/util/image/encode-png.ts";
import { CHANNELS, type PngShape, joinChunks, makeChunk, makePng } from "../../make-png.ts";
import { PYTHON } from "../../open.ts";

const KINDS = [
  ...[1, 2, 4, 8, 16].map((depth) => ({ type: 0, depth }) as const),
  ...[8, 16].map((depth) => ({ type: 2, depth }) as const),
  ...[1, 2, 4, 8].map((depth) => ({ type: 3, depth }) as const),
  ...[8, 16].map((depth) => ({ type: 4, depth }) as const),
  ...[8, 16].map((depth) => ({ type: 6, depth }) as const),
];

/** An image of any kind, with samples of its depth. */
const image: fc.Arbitrary<PngShape & { samples: number[] }> = fc
  .tuple(fc.constantFrom(...KINDS), fc.integer({ min: 1, max: 19 }), fc.integer({ min: 1, max: 19 }), fc.boolean())
  .chain(([{ type, depth }, width, height, isInterlaced]) => {
    const length = width * height * CHANNELS[type];
    const palette = type === 3 ? { palette: Array.from({ length: 3 << depth }, (_, at) => (at * 37) % 256) } : {};
    return fc
      .array(fc.nat({ max: 2 ** depth - 1 }), { minLength: length, maxLength: length })
      .map((samples) => ({ width, height, type, depth, isInterlaced, samples, ...palette }));
  });

/** By the definition of each kind, a pixel at a time. */
function expectedRgb({ type = 2, depth = 8, samples, palette }: PngShape & { samples: number[] }): number[] {
  const levels = samples.map((value) => (depth === 16 ? value >> 8 : Math.round((value * 255) / (2 ** depth - 1))));
  const channels = CHANNELS[type];
  return Array.from({ length: samples.length / channels }, (_, pixel) => {
    const [first = 0, second = 0, third = 0, fourth = 0] = levels.slice(pixel * channels, (pixel + 1) * channels);
    if (type === 0) return [first, first, first];
    if (type === 2) return [first, second, third];
    if (type === 3) return (palette ?? []).slice((samples[pixel] ?? 0) * 3, (samples[pixel] ?? 0) * 3 + 3);
    const alpha = type === 4 ? second : fourth;
    const colours = type === 4 ? [first, first, first] : [first, second, third];
    return colours.map((value) => Math.round((value * alpha + 255 * (255 - alpha)) / 255));
  }).flat();
}

describe("a PNG", () => {
  test("gives its pixels, of every colour type, depth and filter, interlaced or not", async () => {
    await fc.assert(
      fc.asyncProperty(image, async (shape) => {
        const { width, height } = shape;
        expect(await parsePng(makePng(shape))).toEqual({ width, height, rgb: Uint8Array.from(expectedRgb(shape)) });
      }),
    );
  });

  test.each<[string, PngShape, number[]]>([
    ["alpha", { width: 2, height: 1, type: 6, samples: [255, 0, 0, 255, 0, 0, 0, 0] }, [255, 0, 0, 255, 255, 255]],
    [
      "a transparent colour",
      { width: 2, height: 1, samples: [1, 2, 3, 1, 2, 4], transparency: [0, 1, 0, 2, 0, 3] },
      [255, 255, 255, 1, 2, 4],
    ],
    [
      "a transparent grey",
      { width: 2, height: 1, type: 0, depth: 2, samples: [1, 2], transparency: [0, 1] },
      [255, 255, 255, 170, 170, 170],
    ],
    [
      "transparency in its palette",
      { width: 2, height: 1, type: 3, samples: [0, 1], palette: [9, 9, 9, 0, 0, 0], transparency: [255, 0] },
      [9, 9, 9, 255, 255, 255],
    ],
  ])("with %s lies on white", async (_, shape, rgb) => {
    expect((await parsePng(makePng(shape)))?.rgb).toEqual(Uint8Array.from(rgb));
  });

  test("is read as Pillow reads it", async ({ skip }) => {
    if (!hasPillow()) return skip("Pillow is not there to compare with");
    const folder = mkdtempSync(join(tmpdir(), "rlm-png-"));
    try {
      for (const [index, shape] of fc.sample(image, 60).entries()) {
        // 16 bits of grey and alpha, or of colours, Pillow rounds in its own way.
        if (shape.depth !== 16) writeFileSync(join(folder, `hand-${index}.png`), makePng(shape));
      }
      execFileSync(PYTHON, ["-c", PILLOW, folder]);
      const names = readdirSync(folder).filter((name) => name.endsWith(".png"));
      expect(names.length).toBeGreaterThan(40);
      for (const name of names) {
        const rgb = (await parsePng(readFileSync(join(folder, name))))?.rgb ?? new Uint8Array();
        const theirs = readFileSync(join(folder, `${name}.rgb`));
        const far = Math.max(...theirs.map((value, at) => Math.abs(value - (rgb[at] ?? 999))));
        expect({ name, length: rgb.length, isNear: far <= 1 }).toEqual({ name, length: theirs.length, isNear: true });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("that was made of pixels gives the same pixels, and Pillow opens it", async ({ skip }) => {
    await fc.assert(
      fc.asyncProperty(image, async (shape) => {
        const pixels = { width: shape.width, height: shape.height, rgb: Uint8Array.from(expectedRgb(shape)) };
        expect(await parsePng(await toPng(pixels))).toEqual(pixels);
      }),
    );
    if (!hasPillow()) return skip("Pillow is not there to open it");
    const input = await toPng({ width: 2, height: 1, rgb: Uint8Array.from([1, 2, 3, 4, 5, 6]) });
    const script = "import sys, PIL.Image as I; print(list(I.open(sys.stdin.buffer).getdata()))";
    expect(execFileSync(PYTHON, ["-c", script], { input }).toString()).toBe("[(1, 2, 3), (4, 5, 6)]\n");
  });

  test("that is damaged, or none, is undefined and never a crash", async () => {
    const png = makePng({ width: 3, height: 3, samples: new Uint8Array(27) });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: png.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(png);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        expect(await parsePng(damaged)).toBeUndefined();
        expect(await parsePng(png.subarray(0, at))).toBeUndefined();
      }),
    );
    expect(await parsePng(Buffer.from("GIF89a"))).toBeUndefined();
    expect(pngSize(png.subarray(0, 23))).toBeUndefined();
  });

  const header = (width: number, height: number, rest = [8, 2, 0, 0, 0]): Buffer => {
    const bytes = Buffer.alloc(13);
    bytes.writeUInt32BE(width, 0);
    bytes.writeUInt32BE(height, 4);
    bytes.set(rest, 8);
    return makeChunk("IHDR", bytes);
  };
  const end = makeChunk("IEND", Buffer.alloc(0));
  const zeros = (count: number): Buffer => makeChunk("IDAT", deflateSync(Buffer.alloc(count)));

  test.each([
    ["more pixels than are read", joinChunks(header(2 ** 32 - 1, 2 ** 32 - 1), zeros(9), end)],
    ["more bytes than were announced", joinChunks(header(1, 1), zeros(50_000_000), end)],
    ["fewer bytes than were announced", joinChunks(header(4000, 4000), zeros(9), end)],
    ["no pixels", joinChunks(header(0, 5), zeros(5), end)],
    ["no image data", joinChunks(header(1, 1), end)],
    ["no header", joinChunks(zeros(4), end)],
    ["an unknown colour type", joinChunks(header(1, 1, [8, 5, 0, 0, 0]), zeros(4), end)],
    ["a depth that its colour type has not", joinChunks(header(1, 1, [4, 2, 0, 0, 0]), zeros(4), end)],
    ["an unknown way of interlacing", joinChunks(header(1, 1, [8, 2, 0, 0, 7]), zeros(4), end)],
    ["an unknown filter", joinChunks(header(1, 1), makeChunk("IDAT", deflateSync(Buffer.from([5, 0, 0, 0]))), end)],
    ["a palette that is not there", joinChunks(header(1, 1, [8, 3, 0, 0, 0]), zeros(2), end)],
    [
      "a hundred thousand pieces",
      joinChunks(header(1, 1), ...Array(100_000).fill(makeChunk("IDAT", Buffer.alloc(1))), end),
    ],
  ])("with %s is undefined", async (_, data) => {
    expect(await parsePng(data)).toBeUndefined();
  });

  test("with more pixels than the caller wants is undefined", async () => {
    const png = makePng({ width: 10, height: 10 });
    expect(await readPng(png, { maxPixels: 99 })).toBeUndefined();
    expect(await readPng(png, { maxPixels: 100 })).toMatchObject({ width: 10, height: 10 });
  });
});

function hasPillow(): boolean {
  try {
    execFileSync(PYTHON, ["-c", "import PIL"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Saves an image in each of Pillow's modes, then writes down the pixels of every image in the folder. */
const PILLOW = `
import os, sys
from PIL import Image
folder = sys.argv[1]
colours = Image.linear_gradient("L").resize((37, 23)), Image.radial_gradient("L").resize((37, 23))
rgba = Image.merge("RGBA", (*colours, colours[0].rotate(90), colours[1].rotate(180)))
for mode in ["1", "L", "LA", "P", "RGB", "RGBA"]:
    rgba.convert(mode).save(os.path.join(folder, f"pillow-{mode}.png"))
rgba.convert("P", palette=Image.ADAPTIVE, colors=4).save(os.path.join(folder, "pillow-P4.png"), transparency=2, bits=2)
rgba.convert("L").save(os.path.join(folder, "pillow-L-key.png"), transparency=100)
for name in os.listdir(folder):
    image = Image.open(os.path.join(folder, name)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    with open(os.path.join(folder, name + ".rgb"), "wb") as file:
        file.write(Image.alpha_composite(white, image).convert("RGB").tobytes())
`;
