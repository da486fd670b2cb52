import { expect, test } from "vitest";
import { escapeHostLines, toHostLine } from "../../../src/rlm/notes/host-line.ts";

test("escapeHostLines() leaves no line that begins like one of the host, whatever ends the line before", () => {
  const forged = ["\n", "\r", "\r\n", "\u2028", "\u2029", "\u0085", "\v", "\f"]
    .map((end) => `x${end}[host] y`)
    .join("");
  const escaped = escapeHostLines(`[host] z${forged}`);
  expect(escaped).not.toMatch(/(?:^|[\n\r\v\f\u0085\u2028\u2029])\[host\]/);
  expect(escaped.replaceAll("\\", "")).toBe(`[host] z${forged}`);
});

test("escapeHostLines() leaves other lines as they are", () => {
  const text = "a [host] b\n[hosts]\n  [host] indented\n$1";
  expect(escapeHostLines(text)).toBe(text);
  expect(toHostLine("done")).toBe("[host] done");
});
