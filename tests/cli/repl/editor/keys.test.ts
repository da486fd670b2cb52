import * as fc from "fast-check";
import { expect, test } from "vitest";
import { KeyDecoder, type Key } from "../../../../src/cli/repl/editor/keys.ts";

function names(...chunks: readonly string[]): string[] {
  const decoder = new KeyDecoder();
  return [...chunks.flatMap((chunk) => decoder.write(chunk)), ...decoder.flush()].map(nameOf);
}

function nameOf(key: Key): string {
  return key.kind === "key" ? key.name : `${key.kind}:${key.text}`;
}

test.each([
  ["abc", ["text:abc"]],
  ["a\rb\n", ["text:a", "enter", "text:b", "enter"]],
  ["\u0001\u0003\u0004\t\u007F\u001F", ["ctrl-a", "ctrl-c", "ctrl-d", "tab", "backspace", "ctrl-_"]],
  [
    "\u001B[A\u001BOB\u001B[1;5C\u001B[1;3D\u001B[3~\u001B[Z",
    ["up", "down", "ctrl-right", "alt-left", "delete", "shift-tab"],
  ],
  ["\u001B\r\u001Bb\u001B\u007F\u001Bé", ["alt-enter", "alt-b", "alt-backspace", "alt-é"]],
  ["\u001B[13;2u\u001B[27;2;13~", ["shift-enter", "shift-enter"]],
  ["\u001B[200~a\r\u001B[Ab\u001B[201~c", ["paste:a\r\u001B[Ab", "text:c"]],
  ["\u001B[?62;4c", ["report:\u001B[?62;4c"]],
  ["\u001B]11;rgb:0/0/0\u0007x", ["report:\u001B]11;rgb:0/0/0\u0007", "text:x"]],
  ["\u001B", ["escape"]],
  ["\u001B\u001B", []],
  ["\u001B[99X漢", ["text:漢"]],
])("%j", (input, expected) => {
  expect(names(input)).toEqual(expected);
});

test("a sequence that is split anywhere gives the same keys", () => {
  const input = "a\u001B[1;5Cb\u001B[200~x\ny\u001B[201~\u001BOA\u0003é漢\r";
  const whole = names(input).join("|");
  fc.assert(
    fc.property(fc.nat({ max: input.length }), fc.nat({ max: input.length }), (one, other) => {
      const [first = 0, second = 0] = [one, other].toSorted((a, b) => a - b);
      const parts = [input.slice(0, first), input.slice(first, second), input.slice(second)];
      const cut = names(...parts)
        .join("|")
        .replaceAll(/text:(\S)\|text:/gu, "text:$1");
      expect(cut).toBe(whole);
    }),
  );
});
