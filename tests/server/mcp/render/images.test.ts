import { execFileSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Images } from "../../../../src/server/mcp/render/images.ts";
import { shrinkPixels } from "../../../../src/util/image/shrink-pixels.ts";
import { parsePng, type Pixels } from "../../../../src/util/image/png.ts";
import { toPng } from "../../../../src/util/image/encode-png.ts";
import { joinChunks, makeChunk, makePng } from "../../../make-png.ts";
import { PYTHON } from "../../../open.ts";

const MIB = 1024 * 1024;

type Shrunk = Awaited<ReturnType<Images["shrink"]>>;

function shrinkPng(data: Buffer): Promise<Shrunk> {
  return new Images().shrink({ mimeType: "image/png", base64: data.toString("base64") });
}

function shrinkJpeg(data: Buffer): Promise<Shrunk> {
  return new Images().shrink({ mimeType: "image/jpeg", base64: data.toString("base64") });
}

/** The pixels of an image that was passed on. */
async function pixelsOf(shrinking: Promise<Shrunk>): Promise<Pixels> {
  const shrunk = await shrinking;
  const data = "base64" in shrunk ? Buffer.from(shrunk.base64, "base64") : Buffer.alloc(0);
  expect(data.length).toBeLessThanOrEqual(MIB);
  const pixels = await parsePng(data);
  if (pixels === undefined) throw new Error(`not an image: ${JSON.stringify(shrunk).slice(0, 200)}`);
  return pixels;
}

function solid(width: number, height: number, colour: readonly number[]): Pixels {
  return { width, height, rgb: Uint8Array.from({ length: width * height * 3 }, (_, at) => colour[at % 3] ?? 0) };
}

/** A square of one colour; its side is a multiple of 8. */
function black(side: number, isInterlaced = false): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 0, 0, 0, isInterlaced ? 1 : 0], 8);
  const passes = isInterlaced ? [1, 1, 2, 4, 8, 16, 32].map((part) => (side * side * part) / 64) : [side * side];
  const rows = isInterlaced ? (side / 8) * (1 + 1 + 1 + 2 + 2 + 4 + 4) : side; // each begins with the number of its filter
  const size = passes.reduce((sum, pass) => sum + pass, rows);
  const data = deflateSync(Buffer.alloc(size), { level: 1 });
  return joinChunks(makeChunk("IHDR", header), makeChunk("IDAT", data), makeChunk("IEND", Buffer.alloc(0)));
}

function noise(width: number, height: number): Pixels {
  let state = 1;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) >> 16;
  return { width, height, rgb: Uint8Array.from({ length: width * height * 3 }, next) };
}

/** What Python writes to its standard output; undefined where it lacks a module. */
function python(modules: string, code: string): Buffer | undefined {
  const program = `import sys\ntry: import ${modules}\nexcept ImportError: sys.exit()\n${code}`;
  const written = execFileSync(PYTHON, ["-c", program], { maxBuffer: 64 * MIB });
  return written.length === 0 ? undefined : written;
}

describe("shrink() of a PNG", () => {
  test("passes on a small image unchanged", async () => {
    const data = makePng({ width: 1024, height: 3, type: 0, depth: 1, isInterlaced: true });
    expect(await shrinkPng(data)).toEqual({ mimeType: "image/png", base64: data.toString("base64") });
  });

  test.each([
    [2048, 100, 1024, 50],
    [1025, 1025, 1024, 1024],
    [30, 3000, 10, 1024],
    [1, 5000, 1, 1024],
  ])("of %i x %i makes %i x %i", async (width, height, newWidth, newHeight) => {
    const small = await pixelsOf(shrinkPng(await toPng(solid(width, height, [10, 200, 30]))));
    expect([small.width, small.height]).toEqual([newWidth, newHeight]);
    expect(Buffer.from(solid(newWidth, newHeight, [10, 200, 30]).rgb).equals(small.rgb)).toBe(true);
  });

  test("scales a small but long image down further until it fits", { tags: "stress" }, async () => {
    const long = joinChunks(
      ...split(await toPng(solid(10, 10, [1, 2, 3])), makeChunk("tEXt", Buffer.alloc(2 * MIB, "a comment "))),
    );
    expect(await pixelsOf(shrinkPng(long))).toEqual(solid(10, 10, [1, 2, 3]));
    const { width, height } = await pixelsOf(shrinkPng(await toPng(noise(1500, 1200))));
    expect({ width, height }).toEqual({ width: 512, height: 410 });
  });

  test("averages the area that a pixel covers", async () => {
    const pixels = fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }))
      .map(([width, height, side]) => ({ image: noise(width, height), side }));
    await fc.assert(
      fc.asyncProperty(pixels, async ({ image, side }) => {
        const rows = Array.from({ length: image.height }, (_, y) =>
          image.rgb.subarray(y * image.width * 3, (y + 1) * image.width * 3),
        );
        const small = await shrinkPixels({ width: image.width, height: image.height, rows }, side);
        const means = meansOf(image, small);
        expect(Math.max(...means.map((mean, at) => Math.abs(mean - (small.rgb[at] ?? 999))))).toBeLessThan(0.500_001);
        expect(Math.max(small.width, small.height)).toBe(Math.min(side, Math.max(image.width, image.height)));
      }),
    );
  });

  test("shrinks a figure of matplotlib", { tags: "stress" }, async ({ skip }) => {
    const code = `
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as plt
figure = plt.figure(figsize=(8, 4), facecolor="none"); plt.plot([1, 3, 2]); plt.title("a title")
figure.savefig(sys.stdout.buffer, format="png", dpi=300)`;
    const data = python("matplotlib", code);
    if (data === undefined) return skip("matplotlib is not there");
    const { width, height, rgb } = await pixelsOf(shrinkPng(data));
    expect({ width, height, corner: [...rgb.subarray(0, 3)] }).toEqual({
      width: 1024,
      height: 512,
      corner: [255, 255, 255],
    });
    expect(rgb.some((value) => value < 100)).toBe(true);
  });

  test.for(["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])(
    "shrinks an image of Pillow in mode %s",
    { tags: "stress" },
    async (mode, { skip }) => {
      const code = `
image = PIL.Image.linear_gradient("L").resize((2000, 1000))
image = image.convert("RGB").convert("${mode}") if "${mode}" != "I;16" else image.convert("I").point(lambda v: v * 257).convert("I;16")
image.save(sys.stdout.buffer, format="png")`;
      const data = python("PIL.Image", code);
      if (data === undefined) return skip("Pillow is not there");
      const { width, height, rgb } = await pixelsOf(shrinkPng(data));
      const middle = rgb[(256 * 1024 + 512) * 3] ?? 0;
      expect({ width, height, isGrey: Math.abs(middle - 127) < 40 }).toEqual({
        width: 1024,
        height: 512,
        isGrey: true,
      });
    },
  );

  const refused = (sentence: string): { refused: string } => ({ refused: `the PNG ${sentence}` });
  const damaged = refused("is damaged, or of an unknown kind; save it again");

  test("refuses data that is no PNG, damaged or far too large, with a sentence", async () => {
    expect(await shrinkPng(Buffer.from("GIF89a"))).toEqual(refused("is not an image"));
    expect(await shrinkPng(Buffer.alloc(0))).toEqual(refused("is not an image"));
    const png = makePng({ width: 3, height: 3 });
    expect(await shrinkPng(png.subarray(0, -1))).toEqual(damaged);
    const large = makePng({ width: 1, height: 1 });
    large.writeUInt32BE(10_000, 16);
    large.writeUInt32BE(5_001, 20);
    expect(await shrinkPng(large)).toEqual(
      refused("has 10,000 x 5,001 pixels, and 50 million can be read; save it smaller"),
    );
    expect(await new Images().shrink({ mimeType: "image/png", base64: "A".repeat(101 * MIB) })).toEqual(
      refused("is larger than 64.0 MiB; save it smaller"),
    );
  });

  test("refuses one with very long rows, because a whole row is decoded at a time", async () => {
    const wide = makePng({ width: 1, height: 1 });
    wide.writeUInt32BE(65_537, 16);
    expect(await shrinkPng(wide)).toEqual(refused("has 65,537 x 1 pixels; save it smaller"));
  });

  test.each([false, true])("lets others go on meanwhile (interlaced: %s)", async (isInterlaced) => {
    const data = black(1600, isInterlaced);
    let iterations = 0;
    const over = new AbortController();
    const goOn = async (): Promise<void> => {
      for (; !over.signal.aborted; iterations += 1) await setImmediate();
    };
    const others = goOn();
    const { width } = await pixelsOf(shrinkPng(data));
    over.abort();
    await others;
    expect(width).toBe(1024);
    expect(iterations).toBeGreaterThan(5);
  });

  test("decodes large images one after another, and a small one at once", async () => {
    const images = new Images();
    const done: string[] = [];
    const shrink = async (name: string, side: number): Promise<void> => {
      const base64 = black(side).toString("base64");
      await images.shrink({ mimeType: "image/png", base64 });
      done.push(name);
    };
    await Promise.all([shrink("larger", 1600), shrink("large", 1520), shrink("small", 8)]);
    expect(done).toEqual(["small", "larger", "large"]);
  });

  test("unpacks no more bytes than the image can have", async () => {
    const header = Buffer.from([0, 0, 8, 0, 0, 0, 8, 0, 8, 2, 0, 0, 0]);
    const bomb = makeChunk("IDAT", deflateSync(Buffer.alloc(100 * MIB)));
    expect(await shrinkPng(joinChunks(makeChunk("IHDR", header), bomb, makeChunk("IEND", Buffer.alloc(0))))).toEqual(
      damaged,
    );
  });

  test("never throws, whatever the bytes", async () => {
    const png = makePng({ width: 1200, height: 2, type: 3, palette: [1, 2, 3] });
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: png.length }),
        fc.uint8Array({ maxLength: 40 }),
        fc.boolean(),
        async (at, bytes, isPng) => {
          const data = Buffer.concat([png.subarray(0, at), bytes, png.subarray(at + bytes.length)]);
          const shrinking = isPng ? shrinkPng(data) : shrinkJpeg(data);
          if (!("refused" in (await shrinking))) await pixelsOf(shrinking);
        },
      ),
    );
  });
});

describe("shrink() of a JPEG", () => {
  /** Enough of one for its size to be found. */
  const makeJpeg = (width: number, height: number, bytes: number): Buffer => {
    const data = Buffer.concat([
      Buffer.from("ffd8ffe000040000ffc0000b08000000000101110000ffda", "hex"),
      Buffer.alloc(bytes),
    ]);
    data.writeUInt16BE(height, 13);
    data.writeUInt16BE(width, 15);
    data.set([0xff, 0xd9], data.length - 2);
    return data;
  };

  test("passes on a small one", async () => {
    const data = makeJpeg(4000, 3000, 1000);
    expect(await shrinkJpeg(data)).toEqual({ mimeType: "image/jpeg", base64: data.toString("base64") });
  });

  test("passes on what Pillow writes, baseline and progressive", async ({ skip }) => {
    for (const progressive of ["False", "True"]) {
      const code = `PIL.Image.new("RGB", (300, 200)).save(sys.stdout.buffer, format="jpeg", progressive=${progressive})`;
      const data = python("PIL.Image", code);
      if (data === undefined) return skip("Pillow is not there");
      expect(await shrinkJpeg(data)).toEqual({ mimeType: "image/jpeg", base64: data.toString("base64") });
    }
  });

  test("refuses one that is large, invalid or incomplete, and says what to do", async () => {
    expect(await shrinkJpeg(makeJpeg(40, 30, 2.5 * MIB))).toEqual({
      refused: "the JPEG has 2.5 MiB, and 1 MiB can be shown; save it smaller",
    });
    expect(await shrinkJpeg(makeJpeg(8001, 30, 9))).toEqual({
      refused: "the JPEG has 8,001 x 30 pixels; save it smaller",
    });
    const none = { refused: "the JPEG is not an image" };
    expect(await shrinkJpeg(makeJpeg(40, 0, 100))).toEqual(none);
    expect(await shrinkJpeg(makeJpeg(40, 30, 100).subarray(0, 60))).toEqual(none);
    expect(await shrinkJpeg(makePng({ width: 1, height: 1 }))).toEqual(none);
  });
});

/** The chunks of an image, with another one after its header. */
function split(png: Buffer, chunk: Buffer): Buffer[] {
  return [png.subarray(8, 33), chunk, png.subarray(33)];
}

/** Slowly, by the area that each pixel has in common with each. */
function meansOf(image: Pixels, { width, height }: Pixels): Float64Array {
  const [across, down] = [image.width / width, image.height / height];
  const overlap = (at: number, from: number, size: number): number =>
    Math.max(0, Math.min(at + 1, (from + 1) * size) - Math.max(at, from * size));
  return Float64Array.from({ length: width * height * 3 }, (_, index) => {
    const [x, y, part] = [Math.floor(index / 3) % width, Math.floor(index / 3 / width), index % 3];
    let sum = 0;
    for (let v = Math.floor(y * down); v < Math.min(image.height, (y + 1) * down + 1); v += 1) {
      for (let u = Math.floor(x * across); u < Math.min(image.width, (x + 1) * across + 1); u += 1) {
        sum += (image.rgb[(v * image.width + u) * 3 + part] ?? 0) * overlap(u, x, across) * overlap(v, y, down);
      }
    }
    return sum / across / down;
  });
}
