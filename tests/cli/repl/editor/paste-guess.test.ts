import { expect, test } from "vitest";
import { PasteGuess } from "../../../../src/cli/repl/editor/paste-guess.ts";

test.each([
  ["if x:\r    y\r", true],
  ["if x:\n\ty", true],
  ["if x:\r\ny", true],
  ["f(\r1)", true],
  ["x = '''a\rb'''", true],
  ["@note\rdef f():\r\treturn 1", true],
  ["%%time\rf()", true],
  ["x = 1\rx + 1\r", false],
  ["  x = 1\r", false],
  ["if x:\r", false],
  ["if x:\r\r", false],
  ["x = 1\r", false],
  ["x = 1\r\r", false],
  ["\r\n", false],
  ["one long line", false],
  ["if a:\r b\u001B[A", false],
  ["if a:\r b\u0003", false],
  ["\u001B[200~if a:\r b\u001B[201~", false],
])("%j in one read is a pasted block: %s", (chunk, expected) => {
  expect(new PasteGuess().isPaste(chunk, 0)).toBe(expected);
});

test("a long paste continues in the reads that follow at once", () => {
  const long = "    x = 1\r".repeat(600);
  const guess = new PasteGuess();
  expect([
    guess.isPaste(long, 0),
    guess.isPaste(long, 10),
    guess.isPaste("end\r", 20),
    guess.isPaste("x\r", 25),
  ]).toEqual([true, true, true, false]);
});

test("Enter is a key, also right after a paste; so is what comes later", () => {
  const long = "    x = 1\r".repeat(600);
  const guess = new PasteGuess();
  expect([guess.isPaste(long, 0), guess.isPaste("\r", 10)]).toEqual([true, false]);
  expect([guess.isPaste(long, 0), guess.isPaste("y\r", 1000)]).toEqual([true, false]);
  expect([guess.isPaste("a:\rb", 0), guess.isPaste("c\r", 1)]).toEqual([true, false]);
});
