// A call of a tool in the text of a message, by a model that was trained to call tools. There are none here but Python: code that a
// Python tool was to run is run. For any other tool the model is told.

import { linesOutsideFences } from "../../../util/markdown/fence-line.ts";
import { splitBlocks } from "../../../util/markdown/fenced-blocks.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import { shorten } from "../../../util/text/shorten.ts";
import { HOW } from "../block-tags.ts";
import { MARKER, readCall, toCall } from "./call-forms.ts";

export interface ToolCall {
  /** As the model wrote it; empty: it is not known. */
  readonly name: string;
  /** Undefined: it is no call of a tool that runs Python. */
  readonly code: string | undefined;
  /** The offset after it. What follows is invented. */
  readonly end: number;
}

const MAX_CALL = 500_000;
const MAX_NAME = 100;
/** Tags of models that were trained to act by code: an opening one has a line of its own. */
const CODE_TAG = /^[ \t]*<(code|execute|execute_ipython|python|tool_code|code_interpreter)(?:\s[^>]*)?>[ \t]*$/;
const PYTHON = new Set(["python", "python3", "py", "repl", "ipython", "jupyter", "interpreter"]);
const RUNNER = new Set(["code", "exec", "execute", "run"]);
const NOT_PYTHON = new Set("bash shell sh terminal command cmd sql js javascript node".split(" "));
const CODE_KEYS = new Set(["code", "source", "script", "python", "python_code", "source_code", "cell"]);

/** The first one. */
export function findToolCall(message: string): ToolCall | undefined {
  for (const { line, start } of linesOutsideFences(message)) {
    const [, tag] = CODE_TAG.exec(line) ?? [];
    if (tag !== undefined) return readCodeTag(message, start + line.length + 1, tag);
    const at = MARKER.exec(line)?.index ?? -1;
    if (at < 0 || line.slice(0, at).split("`").length % 2 === 0) continue;
    const { name, args, end } = readCall(message.slice(start + at, start + at + MAX_CALL));
    return { name, code: toCode(name, args), end: start + at + end };
  }
  return readWhole(message);
}

export function toToolHint(name: string): string {
  const what = name === "" ? "a tool" : `the tool '${shorten(name.replaceAll(/\s+/g, " "), MAX_NAME)}'`;
  const shell = wordsOf(name).some((word) => NOT_PYTHON.has(word)) ? " For a command write Python, such as !ls." : "";
  return `Nothing was run: you called ${what}, and there are no tools, only functions in Python.${shell} ${HOW}`;
}

function readCodeTag(message: string, from: number, tag: string): ToolCall {
  const closing = `</${tag}>`;
  const at = message.indexOf(closing, from);
  const end = at < 0 ? message.length : at;
  const code = withoutFence(message.slice(from, end));
  return { name: tag, code: code.trim() === "" ? undefined : code, end: at < 0 ? end : at + closing.length };
}

/** A message that is a call and nothing else, without any mark: only of a tool that runs Python, since it may be the answer. */
function readWhole(message: string): ToolCall | undefined {
  const bare = withoutFence(message).trim();
  const call = /^[[{]/.test(bare) ? toCall(parseJSON(bare)) : undefined;
  const code = call === undefined ? undefined : toCode(call.name, call.args);
  return call === undefined || code === undefined ? undefined : { name: call.name, code, end: message.length };
}

/** The one piece of code in the arguments. */
function toCode(name: string, args: unknown): string | undefined {
  const words = wordsOf(name);
  if (words.some((word) => NOT_PYTHON.has(word))) return undefined;
  const isPython = words.some((word) => PYTHON.has(word));
  if (!isPython && !words.some((word) => RUNNER.has(word))) return undefined;
  const fields = typeof args === "object" && args !== null ? Object.entries(args) : [["code", args] as const];
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === "string");
  const named = texts.filter(([key]) => CODE_KEYS.has(key.toLowerCase()));
  const [only] = named.length === 1 ? named : isPython && fields.length === 1 ? texts : [];
  const code = only === undefined ? "" : withoutFence(only[1]);
  return code.trim() === "" ? undefined : code;
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function withoutFence(text: string): string {
  const { blocks, outside } = splitBlocks(text);
  const [block] = blocks;
  return block !== undefined && blocks.length === 1 && outside === "" ? block.text : text.replace(/^\n|\n$/g, "");
}
