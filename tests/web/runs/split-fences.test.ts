import { describe, expect, test } from "vitest";
import { splitFences } from "../../../web/src/runs/transcript/split-fences.ts";

const prose = (text: string) => ({ text, isCode: false });
const code = (text: string) => ({ text, isCode: true });

describe("the blocks of a text", () => {
  test.each([
    ["", []],
    ["plain `code` text\n", [prose("plain `code` text\n")]],
    ["a\n```repl\nx = 1\n```\nb", [prose("a\n"), code("```repl\nx = 1\n```\n"), prose("b")]],
    ["~~~\nx\n~~~", [code("~~~\nx\n~~~")]],
    ["a\n```python\nnever closed", [prose("a\n"), code("```python\nnever closed")]],
    ["```\nx\n```\n```\ny\n```", [code("```\nx\n```\n"), code("```\ny\n```")]],
  ])("%j", (text, blocks) => {
    expect(splitFences(text)).toEqual(blocks);
  });

  test("are found in linear time", () => {
    const text = "```\n".repeat(250_001);
    const started = performance.now();
    expect(splitFences(text)).toHaveLength(125_001);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
