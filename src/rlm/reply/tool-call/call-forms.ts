// The forms in which models write a call of a tool as text. Each reader takes the text from the call's marker on.

import { parseJSON } from "../../../util/parse-json.ts";
import { firstJSON } from "./first-json.ts";

export interface WrittenCall {
  /** As the model wrote it; empty: none was found. */
  readonly name: string;
  readonly args: unknown;
  /** How much of the text it is. */
  readonly end: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** What begins a call. Most are single tokens of a model, which nobody writes in prose. */
export const MARKER = new RegExp(
  [
    "<tool_call>", // Hermes, Qwen, GLM, Nemotron
    "<\\|tool_call>", // Gemma 4
    "<(?:[\\w-]+:|｜DSML｜)?(?:tool_call|function_calls|invoke)\\b[^>\\n]{0,200}>", // Claude, MiniMax, DeepSeek
    "<function=", // Qwen Coder, Llama
    "\\[TOOL_CALLS\\]", // Mistral
    "<\\|python_tag\\|>", // Llama
    "<｜tool▁calls?▁begin｜>", // DeepSeek
    "<\\|tool_calls?(?:_section)?_begin\\|>", // Kimi
    "<\\|START_ACTION\\|>", // Command A
    "<\\|channel\\|>\\w+ to=", // OpenAI's open models
  ].join("|"),
);

/** A prefix of the names of tags. */
const SPACE = "(?:[\\w-]+:|｜DSML｜)?";
const NAME_TAG = new RegExp(`<${SPACE}(?:invoke\\s+name|function)=["']?([\\w.:-]+)["']?[^>\\n]{0,200}>`);
const PARAMETER = new RegExp(
  `<${SPACE}parameter(?:\\s+name)?=["']?([\\w-]+)["']?[^>\\n]{0,200}>\\n?([^]*?)(?:\\n?</${SPACE}parameter>|$)`,
  "g",
);
const XML_END = new RegExp(`</${SPACE}(?:invoke|function)>|$`);
const PAIR = /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([^]*?)(?:<\/arg_value>|$)/g;
/** Closing marks of all forms. */
const CLOSING = /^(?:[\s\]]*(?:<\/[^>\n]{1,200}>|<｜[^>\n]{1,200}｜>|<\|[\w ]+\|>|<tool_call\|>|\[\/[A-Z_]+\]|`{3}))*/;

export function readCall(text: string): WrittenCall {
  const call = READERS.map((read) => read(text)).find((found) => found !== undefined);
  if (call === undefined) return { name: "", args: undefined, end: text.length };
  const [closing = ""] = CLOSING.exec(text.slice(call.end)) ?? [];
  return { ...call, end: call.end + closing.length };
}

/** In order: the first that reads something wins. */
const READERS: readonly ((text: string) => WrittenCall | undefined)[] = [
  readPythonTag,
  readChannel,
  readTags,
  readPairs,
  readGemma,
  readJSON,
];

/** `<|python_tag|>print(1)<|eom_id|>`; tools that Llama has built in are `name.call(...)`. */
function readPythonTag(text: string): WrittenCall | undefined {
  const [whole, body = ""] = /^<\|python_tag\|>\s*([^]*?)(?:<\|e(?:om|ot)_id\|>|$)/.exec(text) ?? [];
  if (whole === undefined || body.startsWith("{")) return undefined;
  const [, builtIn] = /^(\w+)\.call\(/.exec(body) ?? [];
  return { name: builtIn ?? "python", args: builtIn === undefined ? body : undefined, end: whole.length };
}

/** `<|channel|>commentary to=python code<|message|>print(1)<|call|>` */
function readChannel(text: string): WrittenCall | undefined {
  const form = /^<\|channel\|>\w+ to=([\w.:-]+)[^\n]*?<\|message\|>([^]*?)(?:<\|(?:call|end|return|start)\|>|$)/;
  const [whole, name = "", body = ""] = form.exec(text) ?? [];
  return whole === undefined ? undefined : { name, args: toArgs(body), end: whole.length };
}

/** `<invoke name="python"><parameter name="code">...`, `<function=python><parameter=code>...`, `<function=python>{...}` */
function readTags(text: string): WrittenCall | undefined {
  const opening = NAME_TAG.exec(text);
  if (opening === null) return undefined;
  const from = opening.index + opening[0].length;
  const body = text.slice(from, from + text.slice(from).search(XML_END));
  const args = Object.fromEntries([...body.matchAll(PARAMETER)].map(([, key = "", value = ""]) => [key, value]));
  const isJSON = Object.keys(args).length === 0;
  return { name: opening[1] ?? "", args: isJSON ? firstJSON(body)?.value : args, end: from + body.length };
}

/** `<tool_call>python<arg_key>code</arg_key><arg_value>print(1)</arg_value></tool_call>` */
function readPairs(text: string): WrittenCall | undefined {
  const [, name] = /^<tool_call>\s*([\w.-]+)\s*<arg_key>/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const pairs = [...text.matchAll(PAIR)];
  const last = pairs.at(-1);
  const args = Object.fromEntries(pairs.map(([, key = "", value = ""]) => [key.trim(), value]));
  return { name, args, end: last === undefined ? text.length : last.index + last[0].length };
}

/** `<|tool_call>call:python{code:<|"|>print(1)<|"|>}<tool_call|>` */
function readGemma(text: string): WrittenCall | undefined {
  const form = /^<\|tool_call>call:([\w.-]+)\{\s*(\w+)\s*:\s*<\|"\|>([^]*?)(?:<\|"\|>\s*\}?|$)/;
  const [whole, name = "", key = "", value = ""] = form.exec(text) ?? [];
  return whole === undefined ? undefined : { name, args: { [key]: value }, end: whole.length };
}

/** JSON with the name in it, or after it. */
function readJSON(text: string): WrittenCall | undefined {
  const [marker = ""] = MARKER.exec(text) ?? [];
  const rest = text.slice(marker.length);
  const found = firstJSON(rest);
  if (found === undefined) return undefined;
  const end = marker.length + found.end;
  const call = toCall(found.value);
  return call === undefined
    ? { name: nameBefore(rest.slice(0, found.start)), args: found.value, end }
    : { ...call, end };
}

/** Undefined: the value is no call. */
export function toCall(value: unknown): Omit<WrittenCall, "end"> | undefined {
  const fields = toFields(Array.isArray(value) ? value[0] : value);
  const inner = toFields(fields["function"]);
  const name = [fields["name"], fields["tool_name"], fields["tool"], inner["name"]].find(isText);
  const holder = isText(inner["name"]) ? inner : fields;
  const args = holder["arguments"] ?? holder["parameters"] ?? holder["input"] ?? holder["args"];
  if (name === undefined || args === undefined) return undefined;
  return { name, args: isText(args) ? toArgs(args) : args };
}

/** An object, or code as it is. */
function toArgs(text: string): unknown {
  const value = parseJSON(text);
  return typeof value === "object" && value !== null ? value : text;
}

/** The last word before the arguments, without marks: `functions.python:0<|tool_call_argument_begin|>`. */
function nameBefore(text: string): string {
  const words = text.replaceAll(/<[^>]{0,200}>|\[[A-Z_]+\]|`{3}\w*|:\d+/g, " ").match(/[A-Za-z_][\w.-]*/g);
  return words?.at(-1) ?? "";
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
