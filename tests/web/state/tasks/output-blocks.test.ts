import { assert, array, constantFrom, property, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputBlocks, overwriteLines, styleAfter } from "../../../../web/src/state/tasks/output-blocks.ts";

const RED = "\u001b[31m";
const BOLD = "\u001b[1m";
const RESET = "\u001b[0m";

describe("OutputBlocks", () => {
  test("keeps the order of two streams", () => {
    const output = new OutputBlocks();
    output.append("stdout", "a\n");
    output.append("stderr", "b\n");
    output.append("stdout", "c\n");
    expect(output.blocks.map(({ stream, text }) => [stream, text])).toEqual([
      ["stdout", "a\n"],
      ["stderr", "b\n"],
      ["stdout", "c\n"],
    ]);
  });

  test("begins a block at the start of a line", () => {
    const output = new OutputBlocks();
    const line = `${"x".repeat(99)}\n`;
    for (let count = 0; count < 100; count += 1) output.append("stdout", line);
    expect(output.blocks.map(({ text }) => text.length)).toEqual([4_000, 4_000, 2_000]);
  });

  test("ends a block after some lines, however short they are", () => {
    const output = new OutputBlocks();
    output.append("stdout", "a\n".repeat(100));
    expect(output.blocks.map(({ lines }) => lines)).toEqual([40, 40, 20]);
    expect(output.lineCount).toBe(100);
  });

  test("breaks a line that never ends", () => {
    const output = new OutputBlocks();
    output.append("stdout", "x".repeat(70_000));
    expect(output.blocks.map(({ text }) => text.length)).toEqual([32_000, 32_000, 6_000]);
  });

  test("carries colours into the next block, for each stream", () => {
    const output = new OutputBlocks();
    output.append("stdout", `${RED}${"x".repeat(4_000)}\n`);
    output.append("stderr", "plain\n");
    output.append("stdout", `still red${RESET}\n`);
    expect(output.blocks.map(({ style }) => style)).toEqual(["", "", RED]);
  });

  test("drops the oldest blocks beyond its bound, and counts their bytes", () => {
    const output = new OutputBlocks({ maxCharacters: 10_000 });
    for (const letter of ["é", "b", "c", "d"]) output.append("stdout", `${letter.repeat(3_999)}\n`);
    expect(output.blocks.map(({ text }) => text[0])).toEqual(["c", "d"]);
    expect(output.droppedBytes).toBe(3_999 * 2 + 1 + 4_000);
  });

  test("puts earlier output in front, with keys of its own", () => {
    const output = new OutputBlocks();
    output.append("stdout", "late\n");
    output.prepend("early\n");
    output.prepend("earliest\n");
    expect(output.blocks.map(({ text }) => text)).toEqual(["earliest\n", "early\n", "late\n"]);
    expect(new Set(output.blocks.map(({ key }) => key)).size).toBe(3);
  });

  test("shows the same text, however it was cut into pieces", () => {
    const piece = tuple(
      constantFrom("stdout", "stderr"),
      constantFrom("a", "\n", "b\nc", "\r", "\r\n", RED, "x".repeat(5_000)),
    );
    assert(
      property(array(piece), (pieces) => {
        const output = new OutputBlocks();
        for (const [, text] of pieces) output.append("stdout", text);
        const whole = pieces.map(([, text]) => text).join("");
        expect(output.blocks.map(({ text }) => text).join("")).toBe(overwriteLines(whole));
      }),
    );
  });
});

describe("overwriteLines()", () => {
  test("keeps what a progress bar shows last", () => {
    expect(overwriteLines("10%\r50%\r100%\ndone\n")).toBe("100%\ndone\n");
  });

  test("takes line ends of Windows as line ends", () => {
    expect(overwriteLines("a\r\nb\r\r\n")).toBe("a\nb\n");
  });

  test("keeps a return at the end, until it is known what follows", () => {
    expect(overwriteLines("50%\r")).toBe("50%\r");
    expect(overwriteLines("50%\r100%")).toBe("100%");
  });
});

describe("styleAfter()", () => {
  test("collects what was set since the last reset", () => {
    expect(styleAfter("", `${RED}a${BOLD}b`)).toBe(RED + BOLD);
    expect(styleAfter(RED, `a${RESET}b`)).toBe("");
    expect(styleAfter(RED, "a\u001b[mb")).toBe("");
    expect(styleAfter(RED, "a\u001b[0;1mb")).toBe("\u001b[0;1m");
  });

  test("has a bound", () => {
    expect(styleAfter("", BOLD.repeat(1_000)).length).toBeLessThanOrEqual(200);
    expect(styleAfter("", `\u001b[${"1;".repeat(1_000)}1m`)).toBe("");
  });
});
