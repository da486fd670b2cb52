// Replies as models of many families write them, and how they are read.

import type { FinishReason } from "../../../src/protocol/usage.ts";
import type { NothingReason } from "../../../src/rlm/reply/reply-reader.ts";

export interface RealisticReply {
  /** Who writes like this. */
  readonly family: string;
  readonly reply: string;
  /** Default: `stop`. */
  readonly finishReason?: FinishReason;
  readonly reads:
    | { readonly code: string }
    | { readonly variable: string }
    /** What is between the brackets of FINAL(...). */
    | { readonly final: string }
    | { readonly nothing: NothingReason };
}

const fenced = (code: string, tag = "repl"): string => `\`\`\`${tag}\n${code}\n\`\`\``;
const call = (name: string, args: object): string => JSON.stringify({ name, arguments: args });

export const replies: readonly RealisticReply[] = [
  {
    family: "as asked",
    reply: `I look at the beginning first.\n\n${fenced("print(context[:500])")}`,
    reads: { code: "print(context[:500])" },
  },
  {
    family: "GPT: Markdown around it",
    reply: `**Plan**\n\n1. Look\n2. Count\n\n${fenced("len(context)", "python")}\n\nThis shows the size.`,
    reads: { code: "len(context)" },
  },
  {
    family: "Claude: several blocks",
    reply: `First:\n${fenced("a = 1")}\nThen:\n${fenced("FINAL(a)")}`,
    reads: { code: "a = 1" },
  },
  {
    family: "Claude: invented output",
    reply: `${fenced("print(1)")}\n\nOutput:\n\`\`\`\n1\n\`\`\`\n\nFINAL(1)`,
    reads: { code: "print(1)" },
  },
  {
    family: "Gemini, Gemma: tool_code",
    reply: fenced("print(len(context))", "tool_code"),
    reads: { code: "print(len(context))" },
  },
  {
    family: "Gemini: a list item",
    reply: "1. Look:\n\n    ```python\n    for line in context.splitlines()[:3]:\n        print(line)\n    ```",
    reads: { code: "for line in context.splitlines()[:3]:\n    print(line)" },
  },
  {
    family: "Qwen 2.5: text before the fence",
    reply: "Here is the code: ```python\nprint(1)\n```\nRun it.",
    reads: { code: "print(1)" },
  },
  {
    family: "Phi: a colon before the fence",
    reply: "Let's count:```python\nprint(1)\n```",
    reads: { code: "print(1)" },
  },
  { family: "Llama 8B: all on one line", reply: "```repl FINAL(42)```", reads: { code: "FINAL(42)" } },
  { family: "Llama: a leaked token", reply: `${fenced("print(1)")}<|eot_id|>`, reads: { code: "print(1)" } },
  { family: "Mistral: a leaked token after the answer", reply: "FINAL(42)</s>", reads: { final: "42" } },
  {
    family: "a small model: the closing fence is forgotten",
    reply: "```python\nprint(1)",
    reads: { code: "print(1)" },
  },
  {
    family: "a small model: the fence at the end of the code",
    reply: "```python\nx = 1\nprint(x)```",
    reads: { code: "x = 1\nprint(x)" },
  },
  {
    family: "a small model: a fence in a fence",
    reply: "```\n```python\nprint(1)\n```\n```",
    reads: { code: "print(1)" },
  },
  {
    family: "code with prompts",
    reply: fenced(">>> for x in range(2):\n...     print(x)\n...\n0\n1\n>>> x", "pycon"),
    reads: { code: "for x in range(2):\n    print(x)\n\nx" },
  },
  { family: "a version as the tag", reply: fenced("print(1)", "python3.12"), reads: { code: "print(1)" } },
  {
    family: "code about Markdown",
    reply: fenced('md = """\n```python\nx\n```\n"""\nprint(md)'),
    reads: { code: 'md = """\n```python\nx\n```\n"""\nprint(md)' },
  },
  {
    family: "code about reasoning",
    reply: fenced("text = re.sub(r'<think>.*?</think>', '', text)"),
    reads: { code: "text = re.sub(r'<think>.*?</think>', '', text)" },
  },

  {
    family: "DeepSeek R1",
    reply: `<think>\nMaybe FINAL(1)?\n${fenced("guess()", "python")}\nNo.\n</think>\n\n${fenced("look()")}`,
    reads: { code: "look()" },
  },
  {
    family: "Qwen 3 thinking, template opens",
    reply: `Okay, the user wants a count. I could\n${fenced("guess()", "python")}\nFine.\n</think>\n\n${fenced("look()")}`,
    reads: { code: "look()" },
  },
  {
    family: "Qwen 3, without thinking",
    reply: `<think>\n\n</think>\n\n${fenced("look()")}`,
    reads: { code: "look()" },
  },
  { family: "Magistral", reply: `[THINK]FINAL(no)\n[/THINK]\n${fenced("look()")}`, reads: { code: "look()" } },
  { family: "Kimi-VL", reply: "◁think▷FINAL(no)\n◁/think▷FINAL(yes)", reads: { final: "yes" } },
  {
    family: "Gemma 4",
    reply: `<|channel>thought\nFINAL(no)\n<channel|>${fenced("look()")}`,
    reads: { code: "look()" },
  },
  {
    family: "gpt-oss",
    reply: `<|channel|>analysis<|message|>FINAL(no)\n<|end|><|start|>assistant<|channel|>final<|message|>${fenced("look()")}<|return|>`,
    reads: { code: "look()" },
  },
  {
    family: "reasoning that never ends",
    reply: "<think>\nI wonder\nFINAL(no)",
    finishReason: "length",
    reads: { nothing: "cut-off" },
  },

  {
    family: "Hermes, Qwen: a tool call",
    reply: `<tool_call>\n${call("python", { code: "look()" })}\n</tool_call>`,
    reads: { code: "look()" },
  },
  {
    family: "Qwen Coder: a tool call",
    reply: "<tool_call>\n<function=execute_python>\n<parameter=code>\nlook()\n</parameter>\n</function>\n</tool_call>",
    reads: { code: "look()" },
  },
  {
    family: "GLM: a tool call after reasoning",
    reply:
      "<think>I call it.</think>\n<tool_call>python\n<arg_key>code</arg_key>\n<arg_value>look()</arg_value>\n</tool_call>",
    reads: { code: "look()" },
  },
  {
    family: "Claude: a tool call",
    reply:
      'I run it.\n<function_calls>\n<invoke name="python">\n<parameter name="code">look()</parameter>\n</invoke>\n</function_calls>',
    reads: { code: "look()" },
  },
  {
    family: "Mistral: a tool call",
    reply: `[TOOL_CALLS] [${call("python", { code: "look()" })}]`,
    reads: { code: "look()" },
  },
  { family: "Llama: a tool call", reply: "<|python_tag|>look()<|eom_id|>", reads: { code: "look()" } },
  {
    family: "gpt-oss: a tool call",
    reply:
      "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>analysis to=python code<|message|>look()<|call|>",
    reads: { code: "look()" },
  },
  { family: "smolagents: a code tag", reply: "Thought: I look.\n<code>\nlook()\n</code>", reads: { code: "look()" } },
  {
    family: "a tool that does not exist",
    reply: `<tool_call>\n${call("get_weather", { city: "Paris" })}\n</tool_call>`,
    reads: { nothing: "tool-call" },
  },
  { family: "a shell block", reply: fenced("ls -la", "bash"), reads: { nothing: "not-runnable" } },
  { family: "a JSON block", reply: fenced('{"answer": 42}', "json"), reads: { nothing: "data" } },

  { family: "the answer in plain text", reply: 'I have read it all.\n\nFINAL("Paris")', reads: { final: '"Paris"' } },
  { family: "the answer is a variable", reply: "FINAL_VAR(result)", reads: { variable: "result" } },
  { family: "the answer by its name", reply: "The result is ready.\nFINAL(result)", reads: { final: "result" } },
  {
    family: "the answer of several lines",
    reply: "FINAL(- one (1)\n- two (2))",
    reads: { final: "- one (1)\n- two (2)" },
  },
  { family: "the answer as fields", reply: "SUBMIT(city='Paris', n=2)", reads: { code: "SUBMIT(city='Paris', n=2)" } },
  { family: "an answer in bold", reply: "**FINAL(42)**", reads: { nothing: "final" } },
  { family: "an answer inside a sentence", reply: "So the result is FINAL(42).", reads: { nothing: "final" } },
  { family: "a chat model", reply: "The answer is 42.", reads: { nothing: "no-code" } },
  { family: "a refusal", reply: "I can't help with that.", finishReason: "refusal", reads: { nothing: "refused" } },
  {
    family: "a reply that is cut off in code",
    reply: "```repl\nfor x in",
    finishReason: "length",
    reads: { nothing: "cut-off" },
  },
  {
    family: "a reply that is cut off in prose",
    reply: "Let me think about",
    finishReason: "length",
    reads: { nothing: "cut-off" },
  },
  { family: "code that is no Python", reply: "```repl\nfor x in", reads: { nothing: "unclosed" } },
  { family: "an empty block", reply: "```repl\n```", reads: { nothing: "empty" } },
];
