// A call of a tool as text, in the form of Hermes and Qwen, which most models know: so it is shown, cached and recorded like a reply.

import { parseJSON } from "../../util/parse-json.ts";
import type { ToolCallPart } from "../backend.ts";

/** `before`: the text of the answer so far. */
export function toToolCallText({ name, arguments: args }: ToolCallPart, before: string): string {
  const value = parseJSON(args) === undefined ? JSON.stringify(args) : args;
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  return `${start}<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${value}}\n</tool_call>\n`;
}
