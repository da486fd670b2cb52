import { statSync } from "node:fs";
import { expect, test } from "vitest";
import type { BlobLike } from "../../../../src/api/web-types.ts";
import { Upload } from "../../../../src/cli/run/server/upload.ts";
import { UploadDisplay } from "../../../../src/cli/run/server/upload-display.ts";
import { UsageError } from "../../../../src/cli/options/usage-error.ts";
import { Folder } from "../../../config/folder.ts";
import { remove } from "../../../remove.ts";

async function read(content: unknown): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (content as BlobLike).stream() as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

const textOf = ({ context }: Upload): unknown => (context as { text: unknown }).text;

test("a file is read in pieces, is counted, and can be read again from its beginning", async () => {
  const text = "é0123456789".repeat(100_000);
  using folder = new Folder({ "a.txt": text });
  const upload = Upload.open({ file: folder.at("a.txt"), size: Buffer.byteLength(text), as: "text" });
  const bytes = Buffer.byteLength(text);
  expect([upload.sentBytes, upload.totalBytes, upload.context]).toMatchObject([0, bytes, { as: "text" }]);
  expect(await read(textOf(upload))).toBe(text);
  expect(upload.sentBytes).toBe(bytes);
  expect(await read(textOf(upload))).toBe(text);
  expect(upload.sentBytes).toBe(bytes);
});

test("several files keep their names, and their sizes add up", async () => {
  using folder = new Folder({ "a.txt": "AA", "b/c.txt": "C", empty: "" });
  const files = ["a.txt", "b/c.txt", "empty"].map((name) => ({
    name,
    path: folder.at(name),
    size: statSync(folder.at(name)).size,
  }));
  const upload = Upload.open({ files });
  const sent = (upload.context as { files: { name: string; content: unknown }[] }).files;
  expect(await Promise.all(sent.map(async ({ name, content }) => [name, await read(content)]))).toEqual([
    ["a.txt", "AA"],
    ["b/c.txt", "C"],
    ["empty", ""],
  ]);
  expect([upload.sentBytes, upload.totalBytes]).toEqual([3, 3]);
});

test("more files than a server takes are refused before anything is sent", async () => {
  const files = Array.from({ length: 1001 }, (_, number) => ({ name: String(number), path: "/nowhere", size: 1 }));
  expect(() => Upload.open({ files })).toThrow("cannot send more than 1000 files to a server: there are 1001");
});

test("a file that is gone when it is its turn is named", async () => {
  using folder = new Folder({ "a.txt": "A" });
  const upload = Upload.open({ file: folder.at("a.txt"), size: 1, as: "text" });
  remove(folder.at("a.txt"));
  const error: unknown = await read(textOf(upload)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toContain(`cannot read '${folder.at("a.txt")}'`);
});

test("the display says how much is sent, and erases itself", () => {
  const upload = { totalBytes: 4 * 1024 ** 2, sentBytes: 1024 ** 2 };
  let written = "";
  const display = new UploadDisplay({ columns: 80, write: (text) => (written += text) }, upload);
  display.draw();
  expect(written).toBe("\r\u001B[Ksending the context: 1.0 MiB of 4.0 MiB (25 %)");
  upload.sentBytes = upload.totalBytes;
  written = "";
  display.draw();
  expect(written).toBe("\r\u001B[Ksent the context (4.0 MiB), waiting for the run");
  written = "";
  display[Symbol.dispose]();
  display[Symbol.dispose]();
  expect(written).toBe("\r\u001B[K");
});
