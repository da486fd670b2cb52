// How models are asked and what they are shown: a value for each family of models, not constants.
//
// Numbers have bounds, so that a strategy from an untrusted file can waste no more than a question can.

import { z } from "zod";
import type { Shape } from "../shape.ts";
import { functionLines, strategyPrompts, type StrategyPrompts } from "./strategy-prompts.ts";

const characters = z.int().min(200).max(1_000_000);
const tokens = z.int().min(64).max(1_000_000);
/** 0: off. */
const times = z.int().min(0).max(1_000);

const observations = z
  .strictObject({
    characters: characters.describe("Of printed output, and of each value. The whole stays in `_out[n]`"),
    errorCharacters: characters.describe("Of a traceback"),
    displays: z.int().min(0).max(1_000).describe("Rich outputs of one block"),
    contextCharacters: z.int().min(500).max(1_000_000).describe("Of the description of the context"),
    windowShare: z
      .number()
      .min(0)
      .max(1)
      .describe("At most this share of the model's window at once. 0: no matter how much"),
  })
  .describe("How much a model is shown at once");

const calls = z
  .strictObject({
    stepTokens: tokens.describe("The longest reply of a node"),
    queryTokens: tokens.describe("The longest answer to a query of code that sets no limit"),
    extractTokens: tokens.describe("The longest answer at a limit"),
    directTokens: tokens.describe("The longest answer without a session"),
    directBytes: z.int().min(0).max(10_000_000).describe("With `auto`, larger material gets a session"),
    corrections: times.describe("How often a node may correct an answer that does not follow the schema"),
    queryCorrections: times.describe("The same for a single model call"),
  })
  .describe("Limits of single calls");

const guards = z
  .strictObject({
    emptyReplies: times.describe("After so many empty replies in a row a node ends"),
    repeatedBlocks: times.describe("After so many blocks in a row that each repeat an earlier one, outcome included"),
    lookBeforeAnswer: z
      .boolean()
      .describe("An answer from a model that has not looked at the context is sent back once"),
    fruitlessReplies: times.describe(
      "After so many replies in a row without code that can be run, for the same reason",
    ),
    refusals: times.describe("After so many replies in a row in which the model refuses"),
  })
  .describe("What ends a node that gets nowhere, or makes it think again. 0 or false: off");

export const helperName = z
  .enum([
    "llm_query_batched",
    "rlm_query",
    "rlm_query_batched",
    "map_query",
    "reduce_query",
    "chunk",
    "grep",
    "peek",
    "budget",
    "SHOW_VARS",
  ])
  .describe("A function that a strategy may leave out. `llm_query` and those that answer are always there");
export type HelperName = Shape<typeof helperName>;

const notes = z
  .strictObject({
    failedCalls: z.boolean().describe("How many calls of a block failed, and why"),
    cutAnswers: z.boolean().describe("How many answers were cut off"),
    degraded: z.boolean().describe("That a task for a child had a single model call"),
    sequentialCalls: times.describe("More single calls one after the other than this. 0: off"),
    repeatedCode: z.boolean().describe("That a block has been run before, with the same outcome"),
    totals: z.boolean().describe("How many items a value has of which only a part is shown"),
  })
  .describe("What the host says at the end of an observation, in lines that begin with `[host]`");

const compaction = z
  .strictObject({
    atWindowShare: z
      .number()
      .min(0)
      .max(1)
      .describe("Old steps are replaced at this share of the model's window. 0: never"),
    keepSteps: z.int().min(1).max(1_000).describe("The newest ones, which stay as they are"),
    characters: z.int().min(1_000).max(1_000_000).describe("Of the summary"),
  })
  .describe("What becomes of a long conversation");

/** Of the shipped strategies. */
export const STRATEGY_NAMES = ["frontier", "small", "local"] as const;
/** A shipped strategy. */
export type StrategyName = (typeof STRATEGY_NAMES)[number];

export const strategy = z
  .strictObject({
    name: z.string().min(1).max(100).describe("Recorded with each run"),
    prompts: strategyPrompts,
    observations,
    calls,
    guards,
    notes,
    compaction,
    helpers: z.array(helperName).max(100).describe("The functions that are installed and described"),
  })
  .describe("How a family of models is asked, and what it is shown");
export type Strategy = Shape<typeof strategy>;

type Changes<Part> = { readonly [Key in keyof Part]?: Part[Key] | undefined };

/** What differs from a shipped strategy. */
export interface StrategyChanges extends Changes<
  Omit<Strategy, "prompts" | "observations" | "calls" | "guards" | "notes" | "compaction">
> {
  /** A shipped strategy. Default: the one that fits the model. */
  readonly extends?: StrategyName | undefined;
  /** What models are told. */
  readonly prompts?:
    | (Changes<Omit<StrategyPrompts, "functions">> & {
        /** A line for each function. */
        readonly functions?: Changes<StrategyPrompts["functions"]> | undefined;
      })
    | undefined;
  /** How much a model is shown at once. */
  readonly observations?: Changes<Strategy["observations"]> | undefined;
  /** Limits of single calls. */
  readonly calls?: Changes<Strategy["calls"]> | undefined;
  /** What ends a node that gets nowhere, or makes it think again. */
  readonly guards?: Changes<Strategy["guards"]> | undefined;
  /** What the host says at the end of an observation. */
  readonly notes?: Changes<Strategy["notes"]> | undefined;
  /** What becomes of a long conversation. */
  readonly compaction?: Changes<Strategy["compaction"]> | undefined;
}

export const strategyChanges = z.strictObject({
  extends: z.enum(STRATEGY_NAMES).optional(),
  name: strategy.shape.name.optional(),
  prompts: strategyPrompts.partial().extend({ functions: functionLines.partial().optional() }).optional(),
  observations: observations.partial().optional(),
  calls: calls.partial().optional(),
  guards: guards.partial().optional(),
  notes: notes.partial().optional(),
  compaction: compaction.partial().optional(),
  helpers: strategy.shape.helpers.optional(),
}) satisfies z.ZodType<StrategyChanges>;
