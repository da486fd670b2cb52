// The size of a picture, from the first bytes of its file: a small file can claim a size that fills the memory of a browser.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Each takes four bytes of memory. */
const MAX_PIXELS = 64_000_000;
const MAX_SIDE = 32_000;

/** Whether a browser can hold it. */
export function isShowable({ width, height }: ImageSize): boolean {
  return width * height <= MAX_PIXELS && Math.max(width, height) <= MAX_SIDE;
}

/** Undefined: it is not a picture of this type. */
export function readImageSize(type: string, bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (type) {
      case "image/png":
        return readPNG(view);
      case "image/gif":
        return readGIF(view);
      case "image/jpeg":
        return readJPEG(view);
      case "image/webp":
        return readWebP(view);
      default:
        return undefined;
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined; // it ends too early
    throw error;
  }
}

function readPNG(view: DataView): ImageSize | undefined {
  const isPNG = view.getUint32(0) === 0x89_50_4e_47 && view.getUint32(12) === 0x49_48_44_52;
  return isPNG ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
}

function readGIF(view: DataView): ImageSize | undefined {
  if (view.getUint32(0) !== 0x47_49_46_38) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** The size is in the frame header, behind segments of any length. */
function readJPEG(view: DataView): ImageSize | undefined {
  if (view.getUint16(0) !== 0xff_d8) return undefined;
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + Math.max(2, view.getUint16(at + 2));
  }
}

function readWebP(view: DataView): ImageSize | undefined {
  if (view.getUint32(0) !== 0x52_49_46_46 || view.getUint32(8) !== 0x57_45_42_50) return undefined;
  const kind = view.getUint32(12);
  const threeBytes = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x1_00_00;
  if (kind === 0x56_50_38_58) return { width: threeBytes(24) + 1, height: threeBytes(27) + 1 };
  if (kind === 0x56_50_38_20) {
    return { width: view.getUint16(26, true) % 0x40_00, height: view.getUint16(28, true) % 0x40_00 };
  }
  if (kind !== 0x56_50_38_4c) return undefined;
  const bits = view.getUint32(21, true);
  return { width: (bits % 0x40_00) + 1, height: (Math.floor(bits / 0x40_00) % 0x40_00) + 1 };
}
