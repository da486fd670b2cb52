// How models mark their reasoning in text, where a server does not keep it apart.
//
// Only forms that models were trained to write. Most are a pair of markers. OpenAI's open models write a header before each part of a
// reply instead.

/** What stands at an offset of a text. `partial`: the text ends before that can be told. */
export type Match<Found> = Found | "partial" | undefined;

export interface Opening {
  /** As it was written. */
  readonly marker: string;
  /** The markers that end the reasoning. Undefined: text of the answer follows. */
  readonly closings: readonly string[] | undefined;
  /** The closings are headers of what follows them, to be read again. */
  readonly isPartOfSeries: boolean;
}

/** Of DeepSeek, Qwen, GLM, MiniMax, Nemotron and most others; all but the first by habit of prompts. */
const TAGS = ["think", "thinking", "thought", "reasoning", "reason"];
/** Of Seed-OSS and of MiniMax. */
const PREFIXES = ["", "seed:", "mm:"];

/** In lower case. */
const PAIRS: readonly (readonly [opening: string, closing: string])[] = [
  ...PREFIXES.flatMap((prefix) => TAGS.map((tag) => [`<${prefix}${tag}>`, `</${prefix}${tag}>`] as const)),
  ["[think]", "[/think]"], // Magistral
  ["◁think▷", "◁/think▷"], // Kimi-VL
  ["<|begin_of_thought|>", "<|end_of_thought|>"], // OpenThinker
  ["<|start_thinking|>", "<|end_thinking|>"], // Command A
  ["<|channel>thought", "<channel|>"], // Gemma 4
];
const CLOSINGS = PAIRS.map(([, closing]) => closing);

/** Of OpenAI's open models: `<|channel|>analysis<|message|>...<|end|>`. */
const HEADER = /^<\|channel\|>(analysis|commentary|final)\b([^\n]*?)<\|message\|>/;
const HEADER_START = "<|channel|>";
const TURN = "<|start|>assistant";
const SERIES_ENDS = ["<|end|>", "<|return|>", "<|call|>"];
const SERIES_CLOSINGS = [...SERIES_ENDS, "<|start|>", HEADER_START];
const MAX_HEADER = 200;
/** None but a header is longer. */
const MAX_MARKER = 24;

/** How markers begin. */
const FIRST = /<(?=[/a-z|]|$)|\[(?=[/t]|$)|◁/gi;

/** The next place at which a marker may begin, or -1. */
export function nextCandidate(text: string, from: number): number {
  FIRST.lastIndex = from;
  return FIRST.exec(text)?.index ?? -1;
}

export function matchOpening(text: string, at: number): Match<Opening> {
  const marker = matchOne(text, at, OPENINGS);
  if (marker !== undefined && marker !== "partial") {
    const closing = PAIRS.find(([opening]) => opening === marker.toLowerCase())?.[1] ?? "";
    return { marker, closings: [closing], isPartOfSeries: false };
  }
  return matchHeader(text, at) ?? marker;
}
const OPENINGS = PAIRS.map(([opening]) => opening);

function matchHeader(text: string, at: number): Match<Opening> {
  const turn = matchOne(text, at, [TURN]);
  if (turn !== undefined)
    return turn === "partial" ? turn : { marker: turn, closings: undefined, isPartOfSeries: true };
  const start = matchOne(text, at, [HEADER_START]);
  if (start === undefined || start === "partial") return start;
  const head = text.slice(at, at + MAX_HEADER);
  const [marker, channel, recipient = ""] = HEADER.exec(head) ?? [];
  if (marker === undefined) return head.length === MAX_HEADER || head.includes("\n") ? undefined : "partial";
  // With a recipient it is a call of a tool, which is not reasoning.
  if (recipient.includes("to=")) return undefined;
  return { marker, closings: channel === "analysis" ? SERIES_CLOSINGS : undefined, isPartOfSeries: true };
}

/** One of these markers, as it was written. */
export function matchOne(text: string, at: number, markers: readonly string[]): Match<string> {
  const head = text.slice(at, at + MAX_MARKER).toLowerCase();
  const marker = markers.find((one) => head.startsWith(one));
  if (marker !== undefined) return text.slice(at, at + marker.length);
  return at + MAX_MARKER > text.length && markers.some((one) => one.startsWith(head)) ? "partial" : undefined;
}

/** A marker that ends reasoning, whichever it is. */
export function matchClosing(text: string, at: number): Match<string> {
  return matchOne(text, at, CLOSINGS);
}

/** A marker that ends a part of a series. */
export function matchSeriesEnd(text: string, at: number): Match<string> {
  return matchOne(text, at, SERIES_ENDS);
}
