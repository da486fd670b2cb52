// Lines within a bound.

import { finished } from "node:stream/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedLines } from "../../../src/server/mcp/bounded-lines.ts";

const MAX = 100;

async function pass(chunks: readonly Buffer[], max = MAX): Promise<{ text: string; refused: unknown[] }> {
  const refused: unknown[] = [];
  const lines = new BoundedLines(max, (id) => void refused.push(id));
  const passed: Buffer[] = [];
  lines.on("data", (chunk: Buffer) => void passed.push(chunk));
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  await finished(lines);
  return { text: Buffer.concat(passed).toString(), refused };
}

test("whole lines pass as they are, however they were cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 20 })), fc.array(fc.nat(10)), async (words, cuts) => {
      const text = words.map((word) => `${word.replaceAll("\n", "")}\n`).join("");
      let rest = Buffer.from(text);
      const chunks: Buffer[] = [];
      for (const length of cuts) {
        chunks.push(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
      expect(await pass([...chunks, rest])).toEqual({ text, refused: [] });
    }),
  );
});

const long = "x".repeat(5000);

test.each([
  ["first", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"code":"${long}"}}`, 7],
  ["first of all", `{"id":"a\\"b","jsonrpc":"2.0","params":{"code":"${long}"}}`, 'a"b'],
  ["last", `{"method":"tools/call","params":{"code":"${long}"},"jsonrpc":"2.0","id":8}`, 8],
  ["before the version", `{"method":"x","params":{"code":"${long}"},"id":9,"jsonrpc":"2.0"}`, 9],
  ["nowhere", `{"jsonrpc":"2.0","method":"x","params":{"code":"${long}"}}`, undefined],
  ["only inside of a text", `{"jsonrpc":"2.0","method":"x","params":"${long},\\"id\\":5}"}`, undefined],
])("a line that is too long is thrown away, and its id found where it is %s", async (_, line, id) => {
  const chunks = [Buffer.from("before\n"), ...cut(`${line}\n`, 60), Buffer.from("after\n")];
  expect(await pass(chunks)).toEqual({ text: "before\nafter\n", refused: [id] });
});

test("a line without an end is never held", async () => {
  const lines = new BoundedLines(MAX, () => {});
  const piece = Buffer.alloc(1024 * 1024, "x");
  const before = process.memoryUsage().arrayBuffers;
  for (let written = 0; written < 200; written += 1) {
    if (!lines.write(piece)) await new Promise<void>((resolve) => void lines.once("drain", () => resolve()));
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
  lines.destroy();
});

function cut(text: string, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(Buffer.from(text.slice(at, at + size)));
  return pieces;
}
