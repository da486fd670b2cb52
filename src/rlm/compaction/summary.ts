// The summary that replaces old steps. The host makes it, so it costs nothing and invents nothing: a line for each step, and the
// variables that the session has now. The same steps give the same summary, so that repeated runs are answered from the cache.

import { formatCount } from "../../util/text/format.ts";
import { shorten } from "../../util/text/shorten.ts";
import { escapeHostLines, toHostLine } from "../notes/host-line.ts";
import type { StepRecord } from "./conversation.ts";

const WHERE = 'Whole, they are in _history[n], with "code" and "output".';
const MAX_PROSE = 200;
const MAX_CODE = 100;
const MAX_SHOWN = 160;
/** What does not say what a block does. */
const PREAMBLE = /^\s*(?:#|import\s|from\s|$)/;
const ADDRESS = / at 0x[\da-f]+/gi;
/** A value whose text says no more than its type. */
const OPAQUE = /^(\w+: \w+) \(no length\) = <.*$/gm;

interface SummaryOptions {
  /** Of the session, a line for each. */
  readonly variables: string;
  readonly maxCharacters: number;
  /** Whether they are in `_history`. Default: true. */
  readonly areKept?: boolean;
}

export function toSummary(
  steps: readonly StepRecord[],
  { variables, maxCharacters, areKept = true }: SummaryOptions,
): string {
  const last = steps.at(-1)?.step ?? 0;
  const half = Math.floor(maxCharacters / 2);
  const live = variables.replaceAll(OPAQUE, "$1").replaceAll(ADDRESS, "");
  return [
    toHostLine(
      `steps 1 to ${last} were replaced by this summary, to make room. ${areKept ? `${WHERE} ` : ""}They were:`,
    ),
    ...newestWithin(steps.map(toLine), half),
    toHostLine("your variables now:"),
    escapeHostLines(shorten(live, half)),
  ].join("\n");
}

/** The last lines that fit, and how many came before them. */
function newestWithin(lines: readonly string[], maxCharacters: number): readonly string[] {
  let left = maxCharacters;
  const from = lines.findLastIndex((line) => (left -= line.length + 1) < 0) + 1;
  return from === 0 ? lines : [`… ${formatCount(from, "earlier step")} …`, ...lines.slice(from)];
}

function toLine({ step, reply, code, observation = "" }: StepRecord): string {
  const parts = [
    quoted("", proseOf(reply, code), MAX_PROSE),
    code === undefined ? "no code" : describeCode(code),
    describeShown(observation),
  ];
  return `${step}: ${parts.filter((part) => part !== "").join(" · ")}`;
}

/** What the model wrote before its code. */
function proseOf(reply: string, code: string | undefined): string {
  return code === undefined ? reply : (reply.split(/```|~~~/, 1)[0] ?? "");
}

function describeCode(code: string): string {
  const lines = code.split("\n");
  const first = lines.find((line) => !PREAMBLE.test(line)) ?? lines[0] ?? "";
  return `${quoted("code", first, MAX_CODE)}${lines.length > 1 ? ` of ${formatCount(lines.length, "line")}` : ""}`;
}

/** The last line of an exception, else the beginning of what was shown. */
function describeShown(observation: string): string {
  const text = observation.replace(/^Output of block \d+:\n/, "");
  const error = text.includes("Traceback (most recent call last)")
    ? text.match(/^\w[\w.]*(?:Error|Exception|Interrupt).*$/m)
    : null;
  if (error !== null) return quoted("raised", error[0], MAX_SHOWN);
  return `${quoted("shown", text, MAX_SHOWN)}${text.length > MAX_SHOWN ? ` of ${formatCount(text.length, "character")}` : ""}`;
}

/** On one line. Empty where there is nothing. */
function quoted(label: string, text: string, maxCharacters: number): string {
  const plain = text.replaceAll(/[\s\u2028\u2029\u0085]+/g, " ").trim();
  if (plain === "") return "";
  return `${label === "" ? "" : `${label} `}${JSON.stringify(shorten(plain, maxCharacters))}`;
}
