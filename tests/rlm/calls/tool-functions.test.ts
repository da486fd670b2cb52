// Tools as functions in a session.

import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, executeCode, ScriptedBackend, type RLMOptions, type Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

type Script = ConstructorParameters<typeof ScriptedBackend>[0];
const code = (text: string): string => `\`\`\`repl\n${text}\n\`\`\``;

function ask(script: Script, options: Partial<RLMOptions>) {
  const backend = new ScriptedBackend(script);
  return runtime.rlm({ backend, model: "root", mode: "rlm", cache: false, log: false, ...options }).run({ query: "?" });
}

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  schema: z.object({ text: z.string(), loud: z.boolean().default(false) }),
  handler: ({ text, loud }) => (loud ? text.toUpperCase() : text),
});

test("a tool is a function with parameters, types, defaults and a docstring", async () => {
  const look =
    "import inspect\nFINAL([str(inspect.signature(echo)), echo.__doc__, echo.__name__, echo('a'), echo('a', loud=True)])";
  const { data } = await ask([code(look)], { tools: [echo] }).result;
  expect(data).toEqual(["(text: str, loud: bool = False)", "Says it again.", "echo", "a", "A"]);
});

test("parameters that Python cannot name are given by position or in a dict", async () => {
  const odd = defineTool({
    name: "odd",
    description: "",
    schema: z.object({ from: z.string(), "to-day": z.int().optional(), class: z.string() }),
    handler: (args) => args,
  });
  const { data } = await ask([code("FINAL([odd('a', 1, 'b'), odd(**{'from': 'a', 'class': 'b'})])")], { tools: [odd] })
    .result;
  expect(data).toEqual([
    { from: "a", "to-day": 1, class: "b" },
    { from: "a", class: "b" },
  ]);
});

test("a tool that throws, or whose result is no JSON, raises in the code, and the run continues", async () => {
  const bad = { ...echo, name: "bad", handler: () => Promise.reject(new Error("the warehouse burns")) };
  const ring = { ...echo, name: "ring", handler: () => 1n };
  const attempt = (name: string): string =>
    `try:\n    ${name}('a')\nexcept Exception as e:\n    said.append([type(e).__name__, str(e)])\n`;
  const { data } = await ask([code(`said = []\n${attempt("bad")}${attempt("ring")}FINAL(said)`)], {
    tools: [bad, ring],
  }).result;
  expect(data).toEqual([
    ["ToolError", "the warehouse burns"],
    ["ToolError", "ring: its answer is nothing that JSON can say"],
  ]);
});

test("a child has the tools that it is granted, and no others", async () => {
  const other = { ...echo, name: "other" };
  const script: Script = ({ messages }) =>
    (messages[1]?.content ?? "").includes("Question: child")
      ? code("FINAL(['echo' in globals(), 'other' in globals()])")
      : code(
          "FINAL([rlm_query('child', tools=['other']).data, rlm_query('child', tools=[]).data, rlm_query('child').data])",
        );
  const { data } = await ask(script, { tools: [echo, other] }).result;
  expect(data).toEqual([
    [false, true],
    [false, false],
    [true, true],
  ]);
});

test("granting an unknown tool raises, and names the known ones", async () => {
  const script = [code("try:\n    rlm_query('child', tools=['ecoh'])\nexcept Exception as e:\n    FINAL(str(e))")];
  const { answer } = await ask(script, { tools: [echo] }).result;
  expect(answer).toContain("Cannot call tool 'ecoh': there are echo");
});

test("at the limit of calls a tool raises LimitError, and the run continues", async () => {
  const call =
    "for n in range(9):\n    try:\n        echo('a')\n    except LimitError as e:\n        FINAL([n, str(e)])";
  const { data, usage } = await ask([code(call)], { tools: [echo], limits: { toolCalls: 3 } }).result;
  expect(data).toEqual([usage.total.toolCalls, expect.stringContaining("this needs 1 call of a tool")]);
  expect(usage.total.toolCalls).toBeLessThanOrEqual(3);
});

test("execute_code runs in a sandbox of its own", async () => {
  const tools = [executeCode((source, options) => runtime.execute(source, options))];
  const script = [
    code("x = 1\nr = execute_code(\"print('x' in globals())\\n6 * 7\")\nFINAL([r['status'], r['stdout'], r['value']])"),
  ];
  expect((await ask(script, { tools }).result).data).toEqual(["ok", "False\n", "42"]);
});
