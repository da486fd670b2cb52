// Output of a session that prints and displays without end, or in the most expensive way.

import { expect, test } from "vitest";
import { OutputItems } from "../../../web/src/state/sessions/console/output-items.ts";
import { foldReturns, styleAfter } from "../../../web/src/state/sessions/console/terminal-text.ts";
import { timeOf } from "../time-of.ts";

const MAX_ITEMS = 1_000;

test("streams that alternate with every character make few items, and none is lost without being counted", () => {
  const output = new OutputItems();
  const prints = 60_000;
  const took = timeOf(() => {
    for (let at = 0; at < prints; at += 1) output.print(at % 2 === 0 ? "stdout" : "stderr", "x");
  });
  expect(output.items.length).toBeLessThanOrEqual(MAX_ITEMS);
  expect(took).toBeLessThan(15_000);
  const bytes = output.items.reduce((sum, item) => sum + (item.kind === "display" ? 0 : item.bytes), 0);
  expect(bytes).toBe(prints);
  expect(output.items.at(-1)).toMatchObject({ kind: "text", stream: "stderr", text: "x" });
});

test("gaps that follow each other are one", () => {
  const output = new OutputItems();
  for (let at = 0; at < 10_000; at += 1) output.lose(10);
  expect(output.items).toEqual([expect.objectContaining({ kind: "gap", bytes: 100_000 })]);
});

test("large displays make room for later ones, and what was dropped is counted", () => {
  const output = new OutputItems();
  const size = 500_000;
  for (let at = 0; at < 100; at += 1) output.display({ "text/plain": `${at} `.padEnd(size) }, undefined);
  const shown = output.items.filter((item) => item.kind === "display");
  expect(output.displayed).toBeLessThanOrEqual(20_000_000);
  expect(shown.at(-1)?.data["text/plain"]).toMatch(/^99 /);
  expect(output.items[0]).toMatchObject({ kind: "gap", bytes: (100 - shown.length) * size });
  // One that is updated may grow.
  const grown = new OutputItems();
  for (let at = 0; at < 100; at += 1) grown.display({ "text/plain": "small" }, `d${at}`);
  for (let at = 0; at < 100; at += 1) grown.update({ "text/plain": "x".repeat(size) }, `d${at}`);
  expect(grown.displayed).toBeLessThanOrEqual(20_000_000);
});

test("escape sequences that never end leave no style, and returns take linear time", () => {
  expect(styleAfter(`\u001b[${"1;".repeat(10_000)}m text`)).toBe("");
  expect(styleAfter("\u001b[1;38;2;255;100;100m text")).toBe("\u001b[1;38;2;255;100;100m");
  const line = `${"\r".repeat(100_000)}x`;
  expect(timeOf(() => expect(foldReturns(line)).toBe("x"))).toBeLessThan(5_000);
  expect(foldReturns("a\rb\r\r")).toBe("b\r");
});
