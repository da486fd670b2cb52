import { describe, expect, test } from "vitest";
import { toPlainAnswer } from "../../../src/rlm/extraction/plain-answer.ts";
import { parsePythonString } from "../../../src/rlm/reply/python-string.ts";

/** What the model wrote before. */
const messages = [
  { role: "system", content: "Paris" },
  { role: "assistant", content: "```repl\nresult = llm_query(context)\ntotal = 3\n```" },
] as const;
const block = (code: string, tag = "repl"): string => `\`\`\`${tag}\n${code}\n\`\`\``;

describe("toPlainAnswer()", () => {
  test.each([
    ["It is Paris.", "It is Paris."],
    ["", ""],
    ["  It is Paris.\n", "It is Paris."],
    ["FINAL(It is Paris, the capital)", "It is Paris, the capital"],
    ['FINAL("Paris")', "Paris"],
    ["FINAL('''two\nlines''')", "two\nlines"],
    ["FINAL(Paris)", "Paris"],
    ["FINAL(Paris (in France))", "Paris (in France)"],
    ["FINAL(Paris. It is in France)", "Paris. It is in France"],
    ["FINAL([1, 2])", "[1, 2]"],
    ["FINAL(42)", "42"],
    [block('FINAL("Paris")'), "Paris"],
    [block('FINAL("Paris")', "python"), "Paris"],
    [`So:\n${block("FINAL(42)")}`, "42"],
    [block('{"city": "Paris"}', "json"), block('{"city": "Paris"}', "json")],
    [`Write this:\n${block("def f(): pass", "python")}`, `Write this:\n${block("def f(): pass", "python")}`],
  ])("takes the answer from %j", (reply, text) => {
    expect(toPlainAnswer(reply, messages)).toBe(text);
  });

  test.each([
    block("print(1)"),
    block("x = 1\nFINAL(x)"),
    block("FINAL(result)"),
    `I look once more.\n${block("print(context[:10])", "python")}`,
    `It is 3.\n${block("FINAL(total)")}`,
    "FINAL(result)",
    "FINAL(total + 1)",
    "FINAL(str(x))",
    "FINAL(rows[0])",
    'FINAL(f"{x}")',
    "FINAL_VAR(result)",
    "SUBMIT(city='Paris')",
    '<tool_call>{"name": "python", "arguments": {"code": "1"}}</tool_call>',
  ])("takes %j for code that would have to be run", (reply) => {
    expect(toPlainAnswer(reply, messages)).toBeUndefined();
  });
});

test.each([
  ["'a'", "a"],
  ['"it\'s"', "it's"],
  [String.raw`'it\'s \n \t \\ \x41 \u00e9 \U0001f600 \q'`, "it's \n \t \\ A é 😀 \\q"],
  ['"""a\n"b" """', 'a\n"b" '],
  ["'a' 'b'", undefined],
  ["'a", undefined],
  ["'a\nb'", undefined],
  ["f'a'", undefined],
  [String.raw`'\U00ffffff'`, String.raw`\U00ffffff`],
])("parsePythonString() reads %j", (source, text) => {
  expect(parsePythonString(source)).toBe(text);
});
