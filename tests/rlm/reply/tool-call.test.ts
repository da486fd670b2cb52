import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstJSON } from "../../../src/rlm/reply/tool-call/first-json.ts";
import { findToolCall, toToolHint } from "../../../src/rlm/reply/tool-call/tool-call.ts";

const CODE = 'x = 1\nprint("a\\n")';
const JSON_ARGS = JSON.stringify({ code: CODE });
const JSON_CALL = JSON.stringify({ name: "python", arguments: { code: CODE } });

describe("findToolCall() reads the code in", () => {
  test.each([
    ["Hermes, Qwen", `<tool_call>\n${JSON_CALL}\n</tool_call>`],
    [
      "the same with unescaped line ends",
      `<tool_call>\n{"name": "python", "arguments": {"code": "x = 1\nprint(\\"a\\\\n\\")"}}\n</tool_call>`,
    ],
    ["the same with the name before it", `<tool_call>python\n${JSON_ARGS}\n</tool_call>`],
    ["arguments as a text", `<tool_call>\n${JSON.stringify({ name: "python", arguments: JSON_ARGS })}\n</tool_call>`],
    [
      "a function in it",
      `<tool_call>${JSON.stringify({ function: { name: "python", arguments: JSON_ARGS } })}</tool_call>`,
    ],
    [
      "Qwen Coder",
      `<tool_call>\n<function=python>\n<parameter=code>\n${CODE}\n</parameter>\n</function>\n</tool_call>`,
    ],
    ["GLM", `<tool_call>python\n<arg_key>code</arg_key>\n<arg_value>${CODE}</arg_value>\n</tool_call>`],
    [
      "Claude",
      `<function_calls>\n<invoke name="python">\n<parameter name="code">${CODE}</parameter>\n</invoke>\n</function_calls>`,
    ],
    [
      "MiniMax",
      `<minimax:tool_call>\n<invoke name="python">\n<parameter name="code">${CODE}</parameter>\n</invoke>\n</minimax:tool_call>`,
    ],
    [
      "DeepSeek 3.2",
      `<｜DSML｜function_calls>\n<｜DSML｜invoke name="python">\n<｜DSML｜parameter name="code" string="true">${CODE}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
    ],
    [
      "DeepSeek 3.1",
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>python<｜tool▁sep｜>${JSON_ARGS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    ],
    [
      "DeepSeek R1",
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>python\n\`\`\`json\n${JSON_ARGS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    ],
    ["Mistral", `[TOOL_CALLS] [${JSON_CALL}]`],
    ["newer models of Mistral", `[TOOL_CALLS]python[ARGS]${JSON_ARGS}`],
    [
      "Kimi",
      `<|tool_calls_section_begin|><|tool_call_begin|>functions.python:0<|tool_call_argument_begin|>${JSON_ARGS}<|tool_call_end|><|tool_calls_section_end|>`,
    ],
    ["Llama", `<|python_tag|>${CODE}<|eom_id|>`],
    ["Llama with JSON", `<|python_tag|>${JSON.stringify({ name: "python", parameters: { code: CODE } })}`],
    ["Llama without a mark", JSON.stringify({ name: "python", parameters: { code: CODE } })],
    ["the same in a fence", `\`\`\`json\n${JSON_CALL}\n\`\`\``],
    ["older Llama", `<function=python>${JSON_ARGS}</function>`],
    ["Gemma 4", `<|tool_call>call:python{code:<|"|>${CODE}<|"|>}<tool_call|>`],
    ["gpt-oss", `<|channel|>analysis to=python code<|message|>${CODE}<|call|>`],
    ["gpt-oss with JSON", `<|channel|>commentary to=functions.python <|constrain|>json<|message|>${JSON_ARGS}<|call|>`],
    [
      "Command A",
      `<|START_ACTION|>[${JSON.stringify({ tool_call_id: "0", tool_name: "python", parameters: { code: CODE } })}]<|END_ACTION|>`,
    ],
    ["smolagents", `<code>\n${CODE}\n</code>`],
    ["CodeAct", `<execute>\n${CODE}\n</execute>`],
  ])("the form of %s", (_, call) => {
    const message = `I will look.\n${call}`;
    const found = findToolCall(message.startsWith("I will") && /^[{`]/.test(call) ? call : message);
    expect(found?.code).toBe(CODE);
    expect(findToolCall(`${call}\nResult: invented`)?.end ?? call.length).toBeLessThanOrEqual(call.length);
  });
});

describe("findToolCall()", () => {
  test.each([
    ["execute_code", { code: "1" }, "1"],
    ["code_interpreter", { code: "1" }, "1"],
    ["PythonRepl", { input: "1" }, "1"],
    ["functions.exec", { source: "1", timeout: 5 }, "1"],
    ["run", { script: "```python\n1\n```" }, "1"],
    ["python", "1", "1"],
    ["python", { code: "1", language: "python" }, "1"],
    ["python", { a: "1", b: "2" }, undefined],
    ["python", { code: "" }, undefined],
    ["python", {}, undefined],
    ["search_code", { query: "def f" }, undefined],
    ["execute_sql", { code: "select 1" }, undefined],
    ["bash", { command: "ls" }, undefined],
    ["run_shell_command", { code: "ls" }, undefined],
    ["get_weather", { code: "1" }, undefined],
  ])("takes code only from a tool that runs Python: %s %j", (name, args, code) => {
    const call = `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
    expect(findToolCall(call)).toEqual({ name, code, end: call.length });
  });

  test.each([
    "The answer is 42.",
    "In Qwen, `<tool_call>` opens a call.",
    "```xml\n<tool_call>\n```",
    '{"name": "Ada", "arguments": ["for", "against"]}',
    '{"name": "get_weather", "arguments": {"city": "Paris"}}',
    "Use <code>x</code> there.",
    "the `[TOOL_CALLS]` token",
  ])("leaves %j alone", (message) => {
    expect(findToolCall(message)).toBeUndefined();
  });

  test("ends before what the model invents", () => {
    const call = `<tool_call>\n${JSON_CALL}\n</tool_call>`;
    expect(findToolCall(`${call}\n<tool_response>\n1\n</tool_response>`)?.end).toBe(call.length);
  });

  test("reads a call that is cut off as one without code", () => {
    expect(findToolCall('<tool_call>\n{"name": "python", "arguments": {"code": "print(')).toMatchObject({
      code: undefined,
    });
    expect(findToolCall("<function_calls>\n<invoke")).toMatchObject({ name: "", code: undefined });
  });

  test("takes linear time for a message full of markers", () => {
    for (const part of [
      "<tool_call>{",
      '<tool_call>{"',
      "<invoke name=",
      "[TOOL_CALLS][",
      "<function=a><parameter=",
      "{",
    ]) {
      findToolCall(part.repeat(20_000));
      findToolCall(`${part}\n`.repeat(20_000));
    }
  });
});

test("the hint names the tool, and says how a command is run", () => {
  expect(toToolHint(`x\n${"y".repeat(1_000)}`)).toMatch(/ the tool 'x y{97}…',/);
  expect(toToolHint("get_weather")).toContain("you called the tool 'get_weather', and there are no tools");
  expect(toToolHint("bash")).toContain("!ls");
  expect(toToolHint("")).toContain("you called a tool,");
});

test("firstJSON() finds whatever JSON a text holds", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.object(), fc.array(fc.jsonValue())),
      fc.constantFrom("", "so: ", "a { b ", '["'),
      (value, before) => {
        const json = JSON.stringify(value);
        const found = firstJSON(`${before}${json} and so on }`);
        if (before === "" || before === "so: ")
          expect(found).toEqual({ value: JSON.parse(json), start: before.length, end: before.length + json.length });
      },
    ),
  );
});
