// The prompts of a node, made from its strategy. The system prompt never changes while a node runs, so that providers can cache it;
// what does change, such as the remaining budget, is in the last message.

import type { HelperName, Strategy } from "../../protocol/strategy/strategy.ts";
import type { StrategyPrompts } from "../../protocol/strategy/strategy-prompts.ts";
import type { ToolListing } from "../../tools/registry.ts";
import type { DefinedModel } from "../ports.ts";
import { shorten } from "../../util/text/shorten.ts";
import { escapeHostLines } from "../notes/host-line.ts";
import { fillTemplate } from "./fill-template.ts";

type JSONSchema = Readonly<Record<string, unknown>>;

export interface PromptFacts {
  readonly tools: readonly ToolListing[];
  /** Whether `rlm_query` opens a session of its own, or is a single model call. */
  readonly canRecurse: boolean;
  /** Of the answer. */
  readonly schema: JSONSchema | undefined;
  /** Models that code may ask by a name of the user's. */
  readonly models: readonly DefinedModel[];
  /** The question of the root, for a node below it. */
  readonly question?: string | undefined;
}

const MAX_QUESTION = 300;
const MAX_MODELS = 20;
const MAX_DESCRIPTION = 200;
/** What no model can work without. */
const NEEDED = ["child", "reply", "functions", "finish", "schema"] as const;

export function systemPrompt(strategy: Strategy, facts: PromptFacts): string {
  const { tools, schema, question } = facts;
  const { system, role, child, reply, howToWork, finish, functionList, schema: schemaText } = strategy.prompts;
  const list = [...functionLines(strategy, facts), ...tools.map(toolLine)].map((line) => `- ${line}`).join("\n");
  const parts = {
    role,
    child: question === undefined ? "" : fillTemplate(child, { question: quote(question) }),
    reply,
    functions: fillTemplate(functionList, { list }),
    howToWork,
    finish,
    schema: schema === undefined ? "" : fillTemplate(schemaText, { schema: JSON.stringify(schema) }),
  };
  const unnamed = NEEDED.filter((name) => !system.includes(`{${name}}`)).map((name) => `\n\n{${name}}`);
  return fillTemplate(system + unnamed.join(""), parts).trim();
}

/** On one line, so that it cannot be taken for instructions of ours. */
function quote(question: string): string {
  return JSON.stringify(shorten(question, MAX_QUESTION));
}

function functionLines({ prompts, helpers }: Strategy, { canRecurse, models: known }: PromptFacts): string[] {
  const { llm_query, rlm_query_at_limit, models, others, ...lines } = prompts.functions;
  const atLimit: Partial<Record<HelperName, string>> = { rlm_query: rlm_query_at_limit, rlm_query_batched: "" };
  const named = helpers.map((name) => (canRecurse ? undefined : atLimit[name]) ?? lines[name]);
  const modelLine =
    known.length === 0
      ? ""
      : fillTemplate(models, { models: known.slice(0, MAX_MODELS).map(describeModel).join(", ") });
  return [llm_query, ...named, modelLine, others].filter((line) => line !== "");
}

function describeModel({ name, description }: DefinedModel): string {
  const use = description === undefined ? "" : ` (${shorten(description, MAX_DESCRIPTION).replaceAll(/\s+/g, " ")})`;
  return JSON.stringify(name) + use;
}

function toolLine({ signature, doc }: ToolListing): string {
  return `${signature}: ${doc.split("\n", 1)[0] ?? ""}`;
}

/** `context` describes each variable: name, type, size, beginning and end. Empty: there is none. */
export function firstMessage({ prompts }: Strategy, query: string, context: string): string {
  const { firstMessage: template, material, noMaterial } = prompts;
  return fillTemplate(template, { query, material: context === "" ? noMaterial : fillTemplate(material, { context }) });
}

export function extractMessage({ prompts }: Strategy, why: string, schema: JSONSchema | undefined): string {
  const { extract, extractText, extractSchema } = prompts;
  const form = schema === undefined ? extractText : fillTemplate(extractSchema, { schema: JSON.stringify(schema) });
  return fillTemplate(extract, { why, form });
}

export function lookFirstMessage({ lookFirst }: StrategyPrompts, variables: readonly string[]): string {
  return fillTemplate(lookFirst, { variables: variables.map((name) => `\`${name}\``).join(", ") });
}

export function rejectedMessage({ rejected }: StrategyPrompts, problem: string): string {
  return fillTemplate(rejected, { problem: escapeHostLines(problem) });
}
