// Lines of limited length.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { liveMiB } from "../../../hostile/live-memory.ts";
import { BoundedLines } from "../../../../src/server/mcp/transport/bounded-lines.ts";

const MAX = 100;

function pass(chunks: readonly Buffer[], max = MAX): { text: string; refused: unknown[] } {
  const refused: unknown[] = [];
  let text = "";
  const lines = new BoundedLines(
    max,
    (line) => (text += `${line}\n`),
    (id) => void refused.push(id),
  );
  for (const chunk of chunks) lines.push(chunk);
  return { text, refused };
}

test("whole lines pass, however they were split into chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 })), fc.array(fc.nat(10)), (words, cuts) => {
      const text = words.map((word) => `${word.replaceAll("\n", "")}\n`).join("");
      let rest = Buffer.from(text);
      const chunks: Buffer[] = [];
      for (const length of cuts) {
        chunks.push(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
      expect(pass([...chunks, rest])).toEqual({ text, refused: [] });
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
])("a line that is too long is discarded, and its id is found if it is %s", (_, line, id) => {
  const chunks = [Buffer.from("before\n"), ...cut(`${line}\n`, 60), Buffer.from("after\n")];
  expect(pass(chunks)).toEqual({ text: "before\nafter\n", refused: [id] });
});

test("an endless line is never buffered", () => {
  const lines = new BoundedLines(
    MAX,
    () => {},
    () => {},
  );
  const piece = Buffer.alloc(1024 * 1024, "x");
  const before = liveMiB();
  for (let written = 0; written < 200; written += 1) lines.push(piece);
  expect(liveMiB() - before).toBeLessThan(8);
});

function cut(text: string, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(Buffer.from(text.slice(at, at + size)));
  return pieces;
}
