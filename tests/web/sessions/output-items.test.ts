import { expect, test } from "vitest";
import { OutputItems } from "../../../web/src/state/sessions/console/output-items.ts";
import { byteLength, foldReturns, styleAfter } from "../../../web/src/state/sessions/console/terminal-text.ts";

const shownIn = (output: OutputItems): unknown[] =>
  output.items.map((item) => {
    if (item.kind === "text") return `${item.stream}: ${item.text}`;
    return item.kind === "display" ? item.data : `${item.bytes} bytes at ${item.offset ?? "nowhere"}`;
  });

test("both streams and displays stay in the order in which they came", () => {
  const output = new OutputItems();
  output.print("stdout", "a\n");
  output.print("stdout", "b\n");
  output.print("stderr", "warn\n");
  output.display({ "text/plain": "figure" }, undefined);
  output.print("stdout", "c");
  expect(shownIn(output)).toEqual(["stdout: a\nb\n", "stderr: warn\n", { "text/plain": "figure" }, "stdout: c"]);
});

test("items are the same objects until they change", () => {
  const output = new OutputItems({ piece: 4 });
  output.print("stdout", "one\ntwo\n");
  const before = output.items;
  expect(output.items).toBe(before);
  output.print("stdout", "three\n");
  expect(output.items).not.toBe(before);
  expect(output.items[0]).toBe(before[0]);
});

test("what is between the beginning and the end is counted, and pieces end with a line", () => {
  const output = new OutputItems({ head: 20, tail: 20, piece: 10 });
  for (let line = 0; line < 100; line += 1) output.print("stdout", `line ${String(line).padStart(2, "0")}\n`);
  expect(shownIn(output)).toEqual([
    "stdout: line 00\nline 01\n",
    "stdout: line 02\n",
    "768 bytes at 24",
    "stdout: line 99\n",
  ]);
});

test("one enormous text is cut as many small ones are", () => {
  const output = new OutputItems({ head: 1_000, tail: 1_000, piece: 100 });
  output.print("stdout", "x".repeat(1_000_000));
  const characters = output.items
    .map((item) => (item.kind === "text" ? item.text.length : 0))
    .reduce((a, b) => a + b, 0);
  expect(characters).toBeLessThanOrEqual(2_100);
  expect(output.missing).toEqual({ offset: 1_000, bytes: 1_000_000 - characters });
});

test("displays stay where text around them goes", () => {
  const output = new OutputItems({ head: 4, tail: 4, piece: 4 });
  output.print("stdout", "head");
  output.print("stdout", "gone");
  output.display({ "text/plain": "kept" }, undefined);
  output.print("stdout", "more");
  output.print("stdout", "tail");
  expect(shownIn(output)).toEqual(["stdout: head", "8 bytes at 4", { "text/plain": "kept" }, "stdout: tail"]);
});

test("what is loaded goes before the gap, and a character may be cut between two loads", () => {
  const output = new OutputItems({ head: 2, tail: 2, piece: 2 });
  output.print("stdout", "ab");
  output.print("stdout", "é€");
  output.print("stdout", "yz");
  const bytes = new TextEncoder().encode("é€");
  expect(output.missing).toEqual({ offset: 2, bytes: 5 });
  output.fill(bytes.slice(0, 3));
  expect(shownIn(output)).toEqual(["stdout: ab", "stdout: é", "2 bytes at 5", "stdout: yz"]);
  output.fill(bytes.slice(3));
  expect(shownIn(output)).toEqual(["stdout: ab", "stdout: é€", "stdout: yz"]);
});

test("a display is replaced by its id, and cleared without the text", () => {
  const output = new OutputItems();
  output.print("stdout", "text");
  output.display({ "text/plain": "10 %" }, "bar");
  expect(output.update({ "text/plain": "20 %" }, "bar")).toBe(true);
  expect(output.update({ "text/plain": "?" }, "other")).toBe(false);
  expect(shownIn(output)).toEqual(["stdout: text", { "text/plain": "20 %" }]);
  output.clearDisplays();
  expect(shownIn(output)).toEqual(["stdout: text"]);
});

test("the number of displays is limited", () => {
  const output = new OutputItems({ displays: 2 });
  for (const name of ["a", "b", "c"]) output.display({ "text/plain": name }, undefined);
  expect(shownIn(output)).toEqual(["1 bytes at nowhere", { "text/plain": "b" }, { "text/plain": "c" }]);
});

test("a progress bar is one line", () => {
  const output = new OutputItems();
  for (const percent of [1, 50, 100]) output.print("stderr", `\r${percent} %`);
  output.print("stderr", "\ndone\r\n");
  expect(shownIn(output)).toEqual(["stderr: 100 %\ndone\n"]);
  expect(foldReturns("abc\r")).toBe("abc\r");
});

test("colours go on in the next piece", () => {
  const output = new OutputItems({ piece: 8 });
  output.print("stdout", "\u001b[31mred\n");
  output.print("stdout", "still red\n");
  expect(output.items.map((item) => item.kind === "text" && item.style)).toEqual(["", "\u001b[31m"]);
  expect(styleAfter("\u001b[31m\u001b[1mx\u001b[0m\u001b[32m")).toBe("\u001b[32m");
});

test("bytes are those of UTF-8", () => {
  for (const text of ["abc", "é", "€", "😀", "a😀b€"])
    expect(byteLength(text)).toBe(new TextEncoder().encode(text).length);
});
