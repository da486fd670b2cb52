// What of a file the page shows, where the file was made to fill its memory.

import { afterEach, expect, test, vi } from "vitest";
import type { Session } from "../../../src/client/index.ts";
import { previewOf } from "../../../web/src/state/sessions/preview.ts";

afterEach(() => vi.restoreAllMocks());

/** The beginning of a picture that claims a size. */
function png(width: number, height: number): Uint8Array {
  const bytes = Buffer.alloc(40);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(bytes);
  bytes.write("IHDR", 12, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return new Uint8Array(bytes);
}

function sessionWith(content: Uint8Array): Session {
  const files = { stat: async () => ({ size: content.length }), read: async () => content };
  return { files } as unknown as Session;
}

test.each([
  ["a picture", png(640, 480), "image"],
  ["one of a thousand million pixels", png(40_000, 30_000), "binary"],
  ["one that is endlessly high", png(1, 2 ** 31), "binary"],
  ["one that ends too early", png(640, 480).slice(0, 18), "binary"],
  ["a text", new TextEncoder().encode("<svg onload=alert(1)>"), "text"],
])("%s", async (_, content, kind) => {
  vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  expect(await previewOf(sessionWith(content), "/plots/x.png")).toMatchObject({ kind });
});
