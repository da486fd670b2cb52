// Decodes the rows of a PNG: undoes the filters, converts samples of 1 to 16 bits to 8 bits, and all colour types to RGB on white.

export interface PngFormat {
  readonly width: number;
  readonly height: number;
  /** Bits per sample. */
  readonly depth: number;
  readonly type: number;
  /** Samples per pixel. */
  readonly channels: number;
  readonly isInterlaced: boolean;
  readonly palette: Buffer | undefined;
  readonly transparency: Buffer | undefined;
}

/** A sub-image: every few pixels, from a starting position on. */
interface Pass {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly down: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** The offset of its first row in the data. */
  readonly start: number;
  /** Bytes per row, without the filter type. */
  readonly stride: number;
}

const NONE = new Uint8Array();
/** Left, top, and the steps to the right and down. */
const WHOLE = [[0, 0, 1, 1]] as const;
/** The seven passes of an interlaced image (Adam7). */
const INTERLACED = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** The expected number of bytes of the unpacked rows. */
export function bytesOfRows(format: PngFormat): number {
  return passesOf(format).reduce((sum, { stride, height }) => sum + (stride + 1) * height, 0);
}

/** A row begins with its filter type. The data has the expected size. */
export function hasKnownFilters(packed: Buffer, format: PngFormat): boolean {
  return passesOf(format).every(({ start, stride, height }) => {
    for (let row = 0; row < height; row += 1) if ((packed[start + row * (stride + 1)] ?? 0) > 4) return false;
    return true;
  });
}

/**
 * From the top, three bytes per pixel; each row is valid until the next. An empty row means that there is work to do before the next one.
 * Consumes the data.
 */
export function* readRows(packed: Buffer, format: PngFormat): Generator<Uint8Array, void, void> {
  const { width, height, isInterlaced } = format;
  const rgb = new Uint8Array(isInterlaced ? width * height * 3 : 0);
  for (const pass of passesOf(format)) {
    if (!isInterlaced) return yield* readPass(packed, format, pass);
    let y = pass.top;
    for (const row of readPass(packed, format, pass)) {
      for (let pixel = 0, x = pass.left; x < width; pixel += 1, x += pass.right) {
        rgb.set(row.subarray(pixel * 3, pixel * 3 + 3), (y * width + x) * 3);
      }
      y += pass.down;
      yield NONE;
    }
  }
  for (let y = 0; y < height; y += 1) yield rgb.subarray(y * width * 3, (y + 1) * width * 3);
}

function* readPass(packed: Buffer, format: PngFormat, pass: Pass): Generator<Uint8Array, void, void> {
  const { start, stride, width, height } = pass;
  const distance = Math.max(1, (format.channels * format.depth) >> 3);
  const toRgb = converter(format, width);
  let above: Uint8Array = new Uint8Array(stride);
  for (let row = 0; row < height; row += 1) {
    const at = start + row * (stride + 1);
    const bytes = packed.subarray(at + 1, at + 1 + stride);
    unfilter(packed[at] ?? 0, bytes, above, distance);
    yield toRgb(bytes);
    above = bytes;
  }
}

/** In the order of the data. Passes without pixels, in small images, are absent. */
function passesOf(format: PngFormat): Pass[] {
  const passes: Pass[] = [];
  let start = 0;
  for (const [left, top, right, down] of format.isInterlaced ? INTERLACED : WHOLE) {
    const [width, height] = [Math.ceil((format.width - left) / right), Math.ceil((format.height - top) / down)];
    if (width <= 0 || height <= 0) continue;
    const stride = Math.ceil((width * format.channels * format.depth) / 8);
    passes.push({ left, top, right, down, width, height, start, stride });
    start += (stride + 1) * height;
  }
  return passes;
}

/** In place. `distance`: bytes to the pixel on the left. One loop per filter, because most of the time is spent here. */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, distance: number): void {
  const { length } = row;
  if (filter === 1) {
    for (let at = distance; at < length; at += 1) row[at] = (row[at] ?? 0) + (row[at - distance] ?? 0);
  } else if (filter === 2) {
    for (let at = 0; at < length; at += 1) row[at] = (row[at] ?? 0) + (above[at] ?? 0);
  } else if (filter === 3) {
    for (let at = 0; at < length; at += 1) {
      const left = at < distance ? 0 : (row[at - distance] ?? 0);
      row[at] = (row[at] ?? 0) + ((left + (above[at] ?? 0)) >> 1);
    }
  } else if (filter === 4) {
    for (let at = 0; at < length; at += 1) {
      const left = at < distance ? 0 : (row[at - distance] ?? 0);
      const corner = at < distance ? 0 : (above[at - distance] ?? 0);
      row[at] = (row[at] ?? 0) + nearest(left, above[at] ?? 0, corner);
    }
  }
}

/** The Paeth predictor. */
export function nearest(left: number, up: number, corner: number): number {
  const toLeft = Math.abs(up - corner);
  const toUp = Math.abs(left - corner);
  const toCorner = Math.abs(left + up - 2 * corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** Converts the samples of a row to RGB, in an array that is reused. */
function converter(format: PngFormat, width: number): (row: Uint8Array) => Uint8Array {
  const { depth, channels, type } = format;
  const samples = new Uint8Array(width * channels);
  const rgb = new Uint8Array(width * 3);
  const colours = channels === 1 ? toColours(format) : undefined;
  return (row) => {
    const values = depth === 8 ? row : toSamples(row, depth, samples);
    if (colours !== undefined) return fromTable(values, colours, rgb);
    if (type === 2) return withoutKey(values, format, rgb);
    return onWhite(values, channels, rgb);
  };
}

/** Of 16 bits the upper 8; others as they are. */
function toSamples(row: Uint8Array, depth: number, samples: Uint8Array): Uint8Array {
  const [perByte, mask] = [8 / depth, (1 << depth) - 1];
  for (let index = 0; index < samples.length; index += 1) {
    if (depth === 16) samples[index] = row[index * 2] ?? 0;
    else {
      const byte = row[Math.floor(index / perByte)] ?? 0;
      samples[index] = (byte >> (8 - depth * ((index % perByte) + 1))) & mask;
    }
  }
  return samples;
}

/** One colour for each sample value: of the palette, or a grey. */
function toColours({ type, depth, palette, transparency }: PngFormat): Uint8Array {
  const colours = new Uint8Array(256 * 3);
  const most = depth >= 8 ? 255 : (1 << depth) - 1;
  const key = depth < 16 && transparency?.length === 2 ? transparency.readUInt16BE(0) : undefined;
  for (let value = 0; value <= most; value += 1) {
    const alpha = type === 3 ? (transparency?.[value] ?? 255) : value === key ? 0 : 255;
    for (let part = 0; part < 3; part += 1) {
      const level = type === 3 ? (palette?.[value * 3 + part] ?? 0) : Math.round((value * 255) / most);
      colours[value * 3 + part] = blend(level, alpha);
    }
  }
  return colours;
}

function fromTable(values: Uint8Array, colours: Uint8Array, rgb: Uint8Array): Uint8Array {
  for (let pixel = 0, at = 0; at < rgb.length; pixel += 1, at += 3) {
    const from = (values[pixel] ?? 0) * 3;
    rgb[at] = colours[from] ?? 0;
    rgb[at + 1] = colours[from + 1] ?? 0;
    rgb[at + 2] = colours[from + 2] ?? 0;
  }
  return rgb;
}

/** One colour may be transparent. (With 16 bits it is not: the lower bits are gone by now.) */
function withoutKey(values: Uint8Array, { depth, transparency }: PngFormat, rgb: Uint8Array): Uint8Array {
  if (depth !== 8 || transparency?.length !== 6) return values;
  const [red, green, blue] = [transparency.readUInt16BE(0), transparency.readUInt16BE(2), transparency.readUInt16BE(4)];
  rgb.set(values);
  for (let at = 0; at < rgb.length; at += 3) {
    if (rgb[at] === red && rgb[at + 1] === green && rgb[at + 2] === blue) rgb.fill(255, at, at + 3);
  }
  return rgb;
}

/** Grey with alpha, or RGB with alpha. */
function onWhite(values: Uint8Array, channels: number, rgb: Uint8Array): Uint8Array {
  const step = channels === 4 ? 1 : 0;
  for (let from = 0, at = 0; at < rgb.length; from += channels, at += 3) {
    const alpha = values[from + channels - 1] ?? 255;
    rgb[at] = blend(values[from] ?? 0, alpha);
    rgb[at + 1] = blend(values[from + step] ?? 0, alpha);
    rgb[at + 2] = blend(values[from + 2 * step] ?? 0, alpha);
  }
  return rgb;
}

function blend(value: number, alpha: number): number {
  return alpha === 255 ? value : Math.round((value * alpha + 255 * (255 - alpha)) / 255);
}
