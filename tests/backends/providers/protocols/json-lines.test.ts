import { expect, test } from "vitest";
import { readLines } from "../../../../src/backends/providers/protocols/json-lines.ts";

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<unknown[]> {
  const bytes = (async function* () {
    for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  })();
  const objects: unknown[] = [];
  for await (const object of readLines(bytes, () => {})) objects.push(object);
  return objects;
}

test("lines come in pieces of any size, also within a character", async () => {
  const text = Buffer.from('{"a":"ä🌍"}\r\n\n{"b":1}\n');
  expect(await read(...[...text].map((byte) => Uint8Array.of(byte)))).toEqual([{ a: "ä🌍" }, { b: 1 }]);
  expect(await read(text)).toEqual([{ a: "ä🌍" }, { b: 1 }]);
});

test("a line that is cut off by the end is dropped", async () => {
  expect(await read('{"a":1}\n{"b":')).toEqual([{ a: 1 }]);
});

test.each(["no JSON\n", "5\n", "null\n"])("the line %j is unreadable", async (line) => {
  await expect(read(line)).rejects.toThrow("an event is no JSON object");
});

test("a line without end is refused", async () => {
  const block = "x".repeat(1024 * 1024);
  await expect(read(...Array.from({ length: 9 }, () => block))).rejects.toThrow("a line has more than");
});

test("a long line that comes byte by byte takes linear time", async () => {
  const letters = Array.from({ length: 300_000 }, () => "x");
  expect(await read('{"a":"', "x".repeat(7 * 1024 * 1024), ...letters, '"}\n{"b":1}\n')).toMatchObject([{}, { b: 1 }]);
});
