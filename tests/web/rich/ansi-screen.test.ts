/* oxlint-disable no-control-regex -- control characters are what a terminal is about */
import { describe, expect, test } from "vitest";
import { AnsiScreen } from "../../../web/src/parts/rich/ansi/ansi-screen.ts";

/** The text of each line. */
function show(...pieces: readonly string[]): readonly string[] {
  return screen(...pieces).lines.map(({ runs }) => runs.map(({ text }) => text).join(""));
}

function screen(...pieces: readonly string[]): AnsiScreen {
  const made = new AnsiScreen();
  for (const piece of pieces) made.write(piece);
  return made;
}

/** The pieces of the first line with their styles. */
function look(text: string): readonly object[] {
  return screen(text).lines[0]?.runs.map((run) => ({ ...run })) ?? [];
}

describe("text", () => {
  test("newlines, carriage returns and backspaces move as in a terminal", () => {
    expect(show("a\nb\r\nc")).toEqual(["a", "b", "c"]);
    expect(show("10 %\r50 %\r100 %\n")).toEqual(["100 %", ""]);
    expect(show("abcdef\rxy")).toEqual(["xycdef"]);
    expect(show("abc\b\bX\b\b\b\b\bY")).toEqual(["YXc"]);
    expect(show("long line\r\u001B[Kshort")).toEqual(["short"]);
    expect(show("long\u001B[2K\rs")).toEqual(["s   "]);
    expect(show("abcd\b\b\u001B[1K|")).toEqual(["  |d"]);
  });

  test("overwriting keeps the styles on both sides", () => {
    expect(look("\u001B[1mbold\u001B[0m plain\r\u001B[3mXX")).toEqual([
      { text: "XX", style: { isItalic: true } },
      { text: "ld", style: { isBold: true } },
      { text: " plain", style: {} },
    ]);
  });

  test.each([1, 2, 3, 7])("cut into pieces of %d characters, it is the same", (size) => {
    const text =
      "a\u001B[1;31mred\u001B[0m\r\n\u001B]8;;http://x.example\u0007link\u001B]8;;\u001B\\ 😀 \u001B(B\u001B[38;2;1;2;3mend";
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(screen(...pieces).lines.map(({ runs }) => join(runs))).toEqual(
      screen(text).lines.map(({ runs }) => join(runs)),
    );
  });
});

/** Pieces may be cut elsewhere, so neighbours of one style count as one. */
function join(runs: readonly { readonly text: string; readonly style: object }[]): readonly [string, string][] {
  const joined: [string, string][] = [];
  for (const { text, style } of runs) {
    const last = joined.at(-1);
    if (last?.[1] === JSON.stringify(style)) last[0] += text;
    else joined.push([text, JSON.stringify(style)]);
  }
  return joined;
}

describe("colours and styles", () => {
  test.each([
    ["\u001B[31mx", { colour: "#c4302b" }],
    ["\u001B[91;44mx", { colour: "#e5484d", background: "#2563c9" }],
    ["\u001B[38;5;196mx", { colour: "#ff0000" }],
    ["\u001B[48;5;244mx", { background: "#808080" }],
    ["\u001B[38;2;300;0;16mx", { colour: "#ff0010" }],
    [
      "\u001B[1;2;3;4;7;9mx",
      { isBold: true, isFaint: true, isItalic: true, isUnderlined: true, isInverse: true, isStruck: true },
    ],
    ["\u001B[1m\u001B[mx", {}],
    ["\u001B[8mx", {}],
    ["\u001B[38mx", {}],
    ["\u001B[999;;;mx", {}],
  ])("%j", (text, style) => {
    expect(look(text)).toEqual([{ text: "x", style }]);
  });
});

describe("what a terminal would obey", () => {
  test.each([
    ["the title of the window", "\u001B]0;owned\u0007"],
    ["a link", "\u001B]8;;javascript:alert(1)\u001B\\"],
    ["a file for the clipboard", "\u001B]52;c;c2VjcmV0\u0007"],
    ["a question for its version", "\u001B[c\u001B[6n"],
    ["clearing and moving", "\u001B[2J\u001B[1;1H\u001B[10A"],
    ["another screen", "\u001B[?1049h"],
    ["a device string", "\u001BP+q544e\u001B\\"],
    ["another character set", "\u001B(0\u001Bc"],
    ["a bell", "\u0007"],
  ])("%s has no effect", (_, sequence) => {
    expect(show(`before ${sequence}after`)).toEqual(["before after"]);
  });

  test("a beginning without an end hides nothing", () => {
    expect(show(`\u001B]0;title\nvisible`)).toEqual([String.raw`\x1b]0;title`, "visible"]);
    const text = "x".repeat(5_000);
    expect(show(`\u001B]0;${text}`).join("")).toBe(`\\x1b]0;${text}`);
    expect(show(`\u001B[${"1;".repeat(3_000)}`).join("")).toContain("1;1;1;");
  });

  test("control characters, marks that reorder text, and what has no width are shown", () => {
    expect(show("a\u0000b\u0085c\u009B31md")).toEqual([String.raw`a\0b\x85c\x9b31md`]);
    expect(show("safe\u202Eexe.txt \u2066x\u2069 \u200Bz\uFEFF")).toEqual([
      String.raw`safe\u202eexe.txt \u2066x\u2069 \u200bz\ufeff`,
    ]);
  });
});

describe("bounds", () => {
  test("lines have a width, and only the last ones are kept", () => {
    expect(show("x".repeat(10_000)).map(({ length }) => length)).toEqual([4_000, 4_000, 2_000]);
    const many = screen("y\n".repeat(120_000));
    expect(many.lines.length).toBeLessThan(56_000);
    expect(many.lines.length + many.dropped).toBe(120_001);
  });

  test.each([
    ["backspaces", "\bx".repeat(500_000)],
    ["carriage returns over many styles", `${"\u001B[1mx\u001B[0my".repeat(20_000)}${"\rz".repeat(200_000)}`],
    ["a style for each character", "\u001B[31mx\u001B[32my".repeat(100_000)],
    ["beginnings of sequences", "\u001B[1;".repeat(200_000)],
    ["beginnings of titles", "\u001B]0;".repeat(100_000)],
    ["erased lines", `${"x".repeat(3_999)}\u001B[1K`.repeat(2_000)],
  ])("a megabyte of %s is parsed in linear time", (_, text) => {
    const started = performance.now();
    screen(text);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
