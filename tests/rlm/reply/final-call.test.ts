import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findFinal } from "../../../src/rlm/reply/final-call.ts";

const value = (text: string) => ({ kind: "value", text });
const variable = (name: string) => ({ kind: "variable", name });

describe("findFinal()", () => {
  test.each([
    ["FINAL(42)", "42"],
    ["   FINAL(42)", "42"],
    ["\tFINAL( 42 ).", "42"],
    ["I am done.\n\nFINAL(42)\n\nGood bye.", "42"],
    ["FINAL(42)\r\nbye", "42"],
    ["FINAL(first line\nsecond line\n\nlast line)", "first line\nsecond line\n\nlast line"],
    ["FINAL(func(arg1, arg2))", "func(arg1, arg2)"],
    ["FINAL([1, 2, 3], (4, 5))", "[1, 2, 3], (4, 5)"],
    ["FINAL(calculate(10, 20) + process(data))", "calculate(10, 20) + process(data)"],
    ['FINAL("quoted")', '"quoted"'],
    ["FINAL('quoted')", "'quoted'"],
    ['FINAL("""three\nlines )\nquoted""")', '"""three\nlines )\nquoted"""'],
    ['FINAL("a bracket :) in quotes")', '"a bracket :) in quotes"'],
    [String.raw`FINAL("an escaped \" and a )")`, String.raw`"an escaped \" and a )"`],
    ["FINAL(It's 42 (really))", "It's 42 (really)"],
    ['FINAL(5" (or 6") wide)', '5" (or 6") wide'],
    ["FINAL(the 'tis that is open)", "the 'tis that is open"],
    ["FINAL(1)\nFINAL(2)", "1"],
    ["FINAL(\nFINAL(2)\n)", "FINAL(2)"],
    ['FINAL(\n```json\n{"a": 1}\n```\n)', '```json\n{"a": 1}\n```'],
    ["```json\nFINAL(1)\n```\nFINAL(2)", "2"],
    ["FINALLY(1)\nFINAL(2)", "2"],
  ])("reads %j", (message, text) => {
    expect(findFinal(message)).toEqual(value(text));
  });

  test.each([
    ["FINAL_VAR(result)", "result"],
    ['FINAL_VAR("result")', "result"],
    ["FINAL_VAR( 'result' )", "result"],
    ["  FINAL_VAR(größe_2)", "größe_2"],
    ["FINAL(42)\nFINAL_VAR(result)", "result"],
  ])("reads the name of a variable in %j", (message, name) => {
    expect(findFinal(message)).toEqual(variable(name));
  });

  test.each([
    ["", null],
    ["The answer is 42.", null],
    ["FINALLY we know", null],
    ["FINALLY(42)", null],
    ["```\nFINAL(42)\n```", null],
    ["```text\nFINAL_VAR(x)", null],
    ["The result is FINAL(42)", "beginning of a line"],
    ["FINAL (42)", "no space"],
    ["**FINAL(42)**", "beginning of a line"],
    ["FINAL(42", "not balanced"],
    ["FINAL((42)", "not balanced"],
    ["FINAL(answer) is what I will call", "something follows"],
    ["FINAL()", "empty"],
    ["FINAL_VAR()", "name of one variable"],
    ["FINAL_VAR(result['x'])", "name of one variable"],
    ["FINAL_VAR(2x)", "name of one variable"],
  ])("reads nothing in %j", (message, hint) => {
    const none = { kind: "none", hint: hint === null ? null : expect.stringContaining(hint) };
    expect(findFinal(message)).toEqual(none);
  });

  test("keeps every answer that has no quotes and balanced brackets as it is", () => {
    const { answer } = fc.letrec<{ answer: string; bracketed: string; words: string }>((tie) => ({
      words: fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/["'()`~\s]/g, "x")),
      bracketed: tie("answer").map((inner) => `(${inner})`),
      answer: fc
        .array(fc.oneof({ maxDepth: 4 }, tie("words"), tie("bracketed"), fc.constant("\n")), { maxLength: 5 })
        .map((parts) => parts.join(" ")),
    }));
    fc.assert(
      fc.property(answer, (text) => {
        fc.pre(text.trim() !== "");
        expect(findFinal(`Done.\nFINAL(${text})\n`)).toEqual(value(text.trim()));
      }),
    );
  });

  test("takes linear time for a message full of openings", () => {
    expect(findFinal("FINAL('".repeat(50_000).replaceAll("')", "\n"))).toMatchObject({ kind: "none" });
    expect(findFinal("FINAL(\n".repeat(50_000))).toMatchObject({ kind: "none" });
    // Each of these would take minutes in quadratic time.
    for (const quotes of [String.raw`\'`, String.raw`\"`, String.raw`\'''`, String.raw`'''\"`])
      expect(findFinal(`FINAL(${quotes.repeat(200_000)}`)).toMatchObject({ kind: "none" });
  });
});
