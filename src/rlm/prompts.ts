// The prompts. The system prompt of a node never changes while it runs, so that providers can cache it; what does change, such as
// the remaining budget, is in the last message.

import type { ToolListing } from "../tools/registry.ts";

export interface PromptFacts {
  /** Describes each variable of the context: name, type, size, beginning and end. Empty: there is no context. */
  readonly context: string;
  readonly tools: readonly ToolListing[];
  /** Whether `rlm_query` opens a session of its own, or is a single model call. */
  readonly canRecurse: boolean;
  /** JSON Schema of the answer. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

export function systemPrompt({ tools, canRecurse, schema }: PromptFacts): string {
  const parts = [
    "You answer a question with the help of a Python session. The material is in variables there, often far more than you could read; " +
      "look at it with code, in parts, and let code and further models do the reading.",
    "Each reply holds one block of code, fenced with ```repl and ```. It is run, and you are shown what it printed and the value of its " +
      "last expression, cut if long. Variables stay from block to block, also after an exception. Stop after the block: what you write after it is lost. " +
      "Never write down output yourself.",
    `In the session, beside Python's own:\n${FUNCTIONS(canRecurse)}${toolLines(tools)}`,
    "How to work: first look at the material (sizes, beginnings, structure). Filter and count with Python where that is enough. For what needs " +
      "reading, give pieces of up to about 100,000 characters to llm_query_batched, all at once; a few full prompts are better than many small ones. " +
      "Put the piece itself into the prompt: the model that is asked sees nothing else. Check what comes back before you rely on it.",
    `When you know the answer, call FINAL(answer), FINAL_VAR("name") or SUBMIT(field=...) in a block of code of its own${schema === undefined ? "" : ", in the form below"}. ` +
      "Do that only after you have seen the results it rests on.",
  ];
  if (schema !== undefined) parts.push(`The answer must be JSON that follows this schema:\n${JSON.stringify(schema)}`);
  return parts.join("\n\n");
}

const FUNCTIONS = (canRecurse: boolean): string =>
  [
    "- llm_query(prompt, model=None, system=None, schema=None, max_tokens=None): asks a model once; a str with .usage, and .data where a JSON schema is given",
    "- llm_query_batched(prompts): the same for many at once, in parallel; each result has .ok and .error",
    canRecurse
      ? "- rlm_query(task, context=None, schema=None): gives a task and its material to another model with a session of its own, for what needs several steps; rlm_query_batched([(task, context), ...])"
      : "- rlm_query(task, context=None): at this depth the same as llm_query",
    "- map_query(items, template) and reduce_query(items, instruction): ask about each item; combine many texts into one",
    "- chunk(text, size), grep(pattern, text), peek(value): cut, search, look",
    "- budget(): what may still be spent; SHOW_VARS(): your variables; _out[n]: all that block n printed, where it was cut; await works at top level (llm_query_async, ...)",
  ].join("\n");

function toolLines(tools: readonly ToolListing[]): string {
  return tools.map(({ signature, doc }) => `\n- ${signature}: ${doc.split("\n", 1)[0] ?? ""}`).join("");
}

export function firstMessage(query: string, { context }: PromptFacts): string {
  const material = context === "" ? "There is no material beside the question." : `The variables:\n${context}`;
  return `Question: ${query}\n\n${material}`;
}

export function extractMessage(why: string, schema: Readonly<Record<string, unknown>> | undefined): string {
  const form =
    schema === undefined
      ? "in plain text and without code. Say what is uncertain."
      : `with JSON only, which follows this schema:\n${JSON.stringify(schema)}`;
  return `The work has to end here: ${why}. Answer the question now, as well as you can from what you have seen, ${form}`;
}

export function schemaMessage(problem: string): string {
  return `The answer was not accepted: ${problem}. Correct it and give it again.`;
}
