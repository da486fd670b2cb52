import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { piecesOf } from "../../../../src/api/content.ts";
import type { BlobLike } from "../../../../src/api/web-types.ts";
import { describeUpload, Upload } from "../../../../src/cli/run/server/upload.ts";
import { StatusLine } from "../../../../src/cli/run/status-line.ts";
import { UsageError } from "../../../../src/cli/options/usage-error.ts";
import { Folder } from "../../../config/folder.ts";
import { remove } from "../../../remove.ts";

async function read(content: unknown): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const piece of piecesOf(content as BlobLike)) chunks.push(Buffer.from(piece));
  return Buffer.concat(chunks).toString("utf8");
}

const textOf = ({ context }: Upload): unknown => (context as { text: unknown }).text;

test("a file is read in pieces, is counted, and can be read again from its beginning", async () => {
  const text = "é0123456789".repeat(100_000);
  using folder = new Folder({ "a.txt": text });
  const upload = new Upload({ file: folder.at("a.txt"), size: Buffer.byteLength(text), as: "text" });
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
  const upload = new Upload({ files });
  const sent = (upload.context as { files: { name: string; content: unknown }[] }).files;
  expect(await Promise.all(sent.map(async ({ name, content }) => [name, await read(content)]))).toEqual([
    ["a.txt", "AA"],
    ["b/c.txt", "C"],
    ["empty", ""],
  ]);
  expect([upload.sentBytes, upload.totalBytes]).toEqual([3, 3]);
});

test("small files are read ahead and large ones when it is their turn, and each is sent as it is then", async () => {
  using folder = new Folder();
  const paths = Array.from({ length: 100 }, (_, index) =>
    folder.write(String(index), String(index).repeat(index % 10 === 0 ? 50_000 : 1)),
  );
  const files = paths.map((path, index) => ({ name: String(index), path, size: statSync(path).size }));
  const upload = new Upload({ files, folder: "all" });
  const sent = upload.context as { files: { name: string; content: unknown }[]; folder: string };
  expect(sent.folder).toBe("all");
  for (const round of [1, 2]) {
    for (const { name, content } of sent.files)
      expect([round, await read(content)]).toEqual([round, readFileSync(folder.at(name), "utf8")]);
    expect(upload.sentBytes).toBe(upload.totalBytes);
  }
});

test.each(["", "more than before"])(
  "a file that changed is an error and not sent with another size: %j",
  async (text) => {
    using folder = new Folder({ "a.txt": "before" });
    const upload = new Upload({ file: folder.at("a.txt"), size: 6, as: "text" });
    folder.write("a.txt", text);
    await expect(read(textOf(upload))).rejects.toThrow(`cannot send '${folder.at("a.txt")}': it changed meanwhile`);
  },
);

test("a file that is gone when it is its turn is named", async () => {
  using folder = new Folder({ "a.txt": "A" });
  const upload = new Upload({ file: folder.at("a.txt"), size: 1, as: "text" });
  remove(folder.at("a.txt"));
  const error: unknown = await read(textOf(upload)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toContain(`cannot read '${folder.at("a.txt")}'`);
});

test("the display says how much is sent, and erases itself", () => {
  const upload = { totalBytes: 4 * 1024 ** 2, sentBytes: 1024 ** 2 };
  let written = "";
  const display = new StatusLine({ columns: 80, write: (text) => (written += text) }, () => describeUpload(upload));
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
