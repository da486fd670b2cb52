import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseMultipart } from "../../../../src/server/net/bodies/multipart.ts";
import { ProblemError } from "../../../../src/server/net/problem.ts";

const TYPE = "multipart/form-data; boundary=xyz";

interface Read {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly text: string;
}

async function* pieces(data: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, n = 0; at < data.length; n += 1) {
    const size = Math.max(1, sizes[n % Math.max(1, sizes.length)] ?? data.length);
    yield data.subarray(at, at + size);
    at += size;
  }
}

async function read(body: string | Buffer, sizes: readonly number[] = [], type: string | null = TYPE): Promise<Read[]> {
  const parts: Read[] = [];
  for await (const { name, fileName, content } of parseMultipart(pieces(Buffer.from(body), sizes), type)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(Buffer.from(chunk));
    parts.push({ name, fileName, text: Buffer.concat(chunks).toString("latin1") });
  }
  return parts;
}

const part = (content: string, headers = 'Content-Disposition: form-data; name="a"'): string =>
  `--xyz\r\n${headers}\r\n\r\n${content}\r\n`;
const END = "--xyz--\r\n";
const one = (text: string): Read[] => [{ name: "a", fileName: undefined, text }];

test.each([1, 2, 3, 7, 65_536])("a form that arrives in pieces of %d bytes", async (size) => {
  const body = `preamble\r\n${part("one")}${part("", 'content-disposition: form-data; name="b"; filename="x.txt"\r\nContent-Type: text/plain')}${part("\r\n--xy\r\n--x\r\n", "Content-Disposition: form-data; name=c")}${END}epilogue`;
  expect(await read(body, [size])).toEqual([
    { name: "a", fileName: undefined, text: "one" },
    { name: "b", fileName: "x.txt", text: "" },
    { name: "c", fileName: undefined, text: "\r\n--xy\r\n--x\r\n" },
  ]);
});

test("any contents, in any pieces, are read back equal", async () => {
  const bytes = fc.array(fc.constantFrom("\r", "\n", "-", "x", "y", "z", "\0", "é", "--xy", "\r\n--xy"), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(bytes, { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 }),
      async (contents, sizes) => {
        const texts = contents
          .map((content) => content.join(""))
          .filter((text) => !`\r\n${text}\r\n`.includes("\r\n--xyz"));
        const body = Buffer.from(texts.map((text) => part(text)).join("") + END, "latin1");
        expect(await read(body, sizes)).toEqual(texts.map((text) => one(text)[0]));
      },
    ),
  );
});

test.each<[string, string, string | undefined]>([
  ['form-data; name="a"; filename="C:\\dir\\f"', "a", "C:\\dir\\f"],
  [String.raw`form-data; name="a\"b"; filename="%22q%22%0A"`, 'a"b', '"q"\n'],
  ['form-data; filename="größe 🐍; x=.txt"; name="a"', "a", "größe 🐍; x=.txt"],
  ['FORM-DATA ; NAME = "a"', "a", undefined],
])("the header %s", async (header, name, fileName) => {
  expect(await read(Buffer.from(part("x", `Content-Disposition: ${header}`) + END))).toEqual([
    { name, fileName, text: "x" },
  ]);
});

test("a boundary may be quoted and stand beside other parameters", async () => {
  for (const type of ['multipart/form-data; charset=utf-8; boundary="xyz"', "Multipart/Form-Data;boundary=xyz; a=b"])
    expect(await read(part("x") + END, [], type)).toEqual(one("x"));
});

test("a form without parts is empty, and one that is not read is passed over", async () => {
  expect(await read(END)).toEqual([]);
  const names: string[] = [];
  for await (const { name } of parseMultipart(
    pieces(Buffer.from(part("x".repeat(100_000)) + part("y") + END), [999]),
    TYPE,
  ))
    names.push(name);
  expect(names).toEqual(["a", "a"]);
});

const refused: [string, string, string | null, number, RegExp][] = [
  ["no boundary", part("x") + END, "multipart/form-data", 422, /needs a boundary/],
  ["no type", part("x") + END, null, 422, /needs a boundary/],
  ["a boundary that is too long", "", `multipart/form-data; boundary=${"b".repeat(71)}`, 422, /needs a boundary/],
  ["no end", part("x"), TYPE, 400, /ended early/],
  ["a part that is cut", part("x").slice(0, -10), TYPE, 400, /ended early/],
  ["headers that are cut", "--xyz\r\nContent-Dis", TYPE, 400, /ended early/],
  ["nothing", "", TYPE, 400, /ended early/],
  ["endless text before the first boundary", "x".repeat(100_000), TYPE, 422, /first boundary is missing/],
  ["endless text behind the end", END + "x".repeat(100_000), TYPE, 422, /more behind its end/],
  ["endless headers", `--xyz\r\nA: ${"x".repeat(100_000)}`, TYPE, 422, /headers of a part are too long/],
  [
    "long headers",
    part("x", `A: ${"x".repeat(9_000)}\r\nContent-Disposition: form-data; name=a`) + END,
    TYPE,
    422,
    /too long/,
  ],
  ["a million parts", part("").repeat(20_000) + END, TYPE, 422, /more than 1000 parts/],
  ["no disposition", part("x", "Content-Type: text/plain") + END, TYPE, 422, /one Content-Disposition/],
  [
    "two dispositions",
    part("x", "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b") + END,
    TYPE,
    422,
    /one Content-Disposition/,
  ],
  ["no name", part("x", 'Content-Disposition: form-data; filename="a"') + END, TYPE, 422, /no name/],
  ["an empty name", part("x", 'Content-Disposition: form-data; name=""') + END, TYPE, 422, /no name/],
  ["two names", part("x", "Content-Disposition: form-data; name=a; name=b") + END, TYPE, 422, /two name/],
  ["text behind a boundary", `--xyzw\r\n\r\n\r\n${END}`, TYPE, 422, /something behind a boundary/],
];

test.each(refused)("%s is refused", async (_, body, type, status, detail) => {
  for (const sizes of [[], [1_000]]) {
    const error = await read(body, sizes, type).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).problem).toMatchObject({ status, detail: expect.stringMatching(detail) as string });
  }
});

test("headers that are not UTF-8 are refused, and an error of the source passes unchanged", async () => {
  const body = Buffer.concat([
    Buffer.from('--xyz\r\nContent-Disposition: form-data; name="'),
    Buffer.from([0xff]),
    Buffer.from(`"\r\n\r\n${END}`),
  ]);
  await expect(read(body)).rejects.toThrow("not UTF-8");
  const broken = new Error("disconnected");
  const source = (async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(part("x"));
    throw broken;
  })();
  const all = async (): Promise<void> => {
    for await (const { content } of parseMultipart(source, TYPE)) for await (const _ of content);
  };
  await expect(all()).rejects.toBe(broken);
});
