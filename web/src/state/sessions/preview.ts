// What of a file the page shows: the beginning of a text, or an image that the browser decodes and never runs.

import type { Session } from "rlm-runtime/client";
import { isShowable, readImageSize } from "../../parts/rich/image/image-size.ts";

export type Preview =
  | { readonly path: string; readonly kind: "reading" }
  | {
      readonly path: string;
      readonly kind: "text";
      readonly text: string;
      readonly size: number;
      readonly isCut: boolean;
    }
  | { readonly path: string; readonly kind: "image"; readonly url: string; readonly size: number }
  | { readonly path: string; readonly kind: "binary"; readonly size: number }
  | { readonly path: string; readonly kind: "failed"; readonly why: string };

const MAX_TEXT_BYTES = 64 * 1024;
const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

/** By the first bytes, whatever the name says. SVG and HTML are texts here. */
const IMAGES: readonly { readonly type: string; readonly start: readonly number[] }[] = [
  { type: "image/png", start: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: "image/jpeg", start: [0xff, 0xd8, 0xff] },
  { type: "image/gif", start: [0x47, 0x49, 0x46, 0x38] },
  { type: "image/webp", start: [0x52, 0x49, 0x46, 0x46] },
];

export async function previewOf(session: Session, path: string): Promise<Preview> {
  const { size } = await session.files.stat(path);
  const start = await session.files.read(path, { length: MAX_TEXT_BYTES });
  const type = imageTypeOf(start);
  if (type !== undefined && size <= MAX_IMAGE_BYTES) {
    const bytes = size <= start.length ? start : await session.files.read(path, { maxBytes: MAX_IMAGE_BYTES });
    const pixels = readImageSize(type, bytes);
    if (pixels === undefined || !isShowable(pixels)) return { path, kind: "binary", size };
    const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type }));
    return { path, kind: "image", url, size };
  }
  if (isBinary(start)) return { path, kind: "binary", size };
  return { path, kind: "text", text: new TextDecoder().decode(start), size, isCut: size > start.length };
}

function imageTypeOf(bytes: Uint8Array): string | undefined {
  return IMAGES.find(({ start }) => start.every((byte, index) => bytes[index] === byte))?.type;
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 4_096).includes(0);
}
