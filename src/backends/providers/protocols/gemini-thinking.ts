// How much a model of Google thinks: a level since Gemini 3, a number of tokens before.

import type { Fields } from "./wire-protocol.ts";

const LEVELS: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high"]);
/** As Google's own interface for clients of OpenAI translates efforts. */
const BUDGETS = new Map([
  ["none", 0],
  ["minimal", 1024],
  ["low", 1024],
  ["medium", 8192],
  ["high", 24_576],
]);

/** Null: the model does not think, or decides itself. An effort may also be a number of tokens; -1 leaves it to the model. */
export function toThinkingConfig(model: string, effort: string | undefined): Fields | null {
  if (!thinks(model) && effort === undefined) return null;
  return { includeThoughts: true, ...(effort !== undefined && toAmount(model, effort)) };
}

function toAmount(model: string, effort: string): Fields {
  if (/^-?\d+$/.test(effort)) return { thinkingBudget: Number(effort) };
  if (!takesBudget(model)) return { thinkingLevel: (LEVELS.has(effort) ? effort : toLevel(effort)).toUpperCase() };
  return { thinkingBudget: BUDGETS.get(effort) ?? effort };
}

/** Thinking cannot be turned off since Gemini 3. What we do not know is sent as it is, and refused by name. */
function toLevel(effort: string): string {
  return effort === "none" ? "minimal" : effort;
}

/** Gemini from 2.5 on, but for models that make images or speech. */
function thinks(model: string): boolean {
  const name = nameOf(model);
  return /^gemini-(2\.5|[3-9]|\d\d|(pro|flash)(-lite)?-latest)/.test(name) && !/image|tts|audio|live/.test(name);
}

function takesBudget(model: string): boolean {
  return /^gemini-[12]\b/.test(nameOf(model));
}

function nameOf(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
