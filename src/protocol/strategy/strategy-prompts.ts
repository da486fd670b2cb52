// The texts of a strategy. `{name}` is replaced where it is a placeholder of that text; other braces stay as they are.

import { z } from "zod";
import type { Shape } from "../shape.ts";

const MAX_CHARACTERS = 50_000;

const text = z.string().max(MAX_CHARACTERS);

/** A text that is useless without some of its placeholders. */
function template(...names: readonly string[]): z.ZodString {
  return names.reduce(
    (schema, name) => schema.refine((value) => value.includes(`{${name}}`), `must have the placeholder {${name}}`),
    text,
  );
}

export const functionLines = z
  .strictObject({
    llm_query: text.describe("Asks a model"),
    llm_query_batched: text.describe("Asks many at once"),
    rlm_query: text.describe("Creates a child"),
    rlm_query_batched: text.describe("Creates many at once"),
    map_query: text.describe("Asks about each item"),
    reduce_query: text.describe("Combines texts"),
    chunk: text.describe("Cuts a text"),
    grep: text.describe("Searches lines"),
    peek: text.describe("Shows both ends of a value"),
    budget: text.describe("Says what may still be spent"),
    SHOW_VARS: text.describe("Lists the variables"),
    rlm_query_at_limit: text.describe("Instead of `rlm_query`, where a node is too deep for children"),
    models: template("models").describe("Where models have names for `llm_query(model=...)`: {models}"),
    others: text.describe("What has no name of its own"),
  })
  .describe("A line for each function");

export const strategyPrompts = z
  .strictObject({
    system: text.describe(
      "Arranges the parts: {role}, {child}, {reply}, {functions}, {howToWork}, {finish}, {schema}. What it does not name of {child}, " +
        "{reply}, {functions}, {finish} and {schema} follows it, because no model can work without",
    ),
    role: text.describe("What the model is for"),
    child: text.describe("For a node below the root: what it works on; {question} is the beginning of the root's"),
    reply: text.describe("The form of a reply"),
    functionList: template("list").describe("Introduces the functions, in {list}"),
    functions: functionLines,
    howToWork: text.describe("How to go about a question"),
    finish: text.describe("How and when to answer"),
    schema: template("schema").describe("Asks for an answer that follows {schema}"),
    firstMessage: template("query", "material").describe("The question, {query}, and {material}"),
    material: template("context").describe("Introduces the variables, in {context}"),
    noMaterial: text.describe("Where there is no context"),
    extract: template("why", "form").describe("Asks for an answer at a limit: {why} says which, {form} in which form"),
    extractText: text.describe("That form without a schema"),
    extractSchema: template("schema").describe("That form with one"),
    extractNoCode: text.describe("Asks again where the answer at a limit is code, which is not run any more"),
    querySchema: template("schema").describe("Added to a query of code that has a schema"),
    lookFirst: text.describe("Where a model answers before it has looked at the context, {variables}"),
    rejected: template("problem").describe("Where an answer does not follow the schema; {problem} says why"),
  })
  .describe("What models are told");
export type StrategyPrompts = Shape<typeof strategyPrompts>;
