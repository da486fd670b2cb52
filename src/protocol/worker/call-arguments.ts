// The arguments of host calls. The code that makes them is not trusted.

import { z } from "zod";
import type { Shape } from "../shape.ts";

const MAX_PROMPT = 16_000;

export const inputArguments = z
  .object({
    prompt: z
      .string()
      .catch("")
      .transform((prompt) => prompt.slice(0, MAX_PROMPT)),
    password: z.boolean().catch(false),
  })
  .describe("Of `input()` and its like. Never refused: an invalid field has its default");

const MAX_SCHEMA_CHARACTERS = 64 * 1024;

const schema = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= MAX_SCHEMA_CHARACTERS, {
    message: `a schema may have ${MAX_SCHEMA_CHARACTERS} characters at most`,
  })
  .nullish();
const tokens = z.number().int().positive().max(1_000_000).nullish();

const MAX_FILES = 100_000;

/** A context beside the message: the bytes of a source of the call. */
const offered = z
  .strictObject({
    source: z.int().min(0),
    kind: z.enum(["text", "bytes", "json", "files"]),
    files: z
      .strictObject({ names: z.array(z.string()).max(MAX_FILES), sizes: z.array(z.int().min(0)).max(MAX_FILES) })
      .nullish()
      .describe("The texts that the bytes consist of"),
  })
  .nullish();

export const task = z.object({
  task: z.string(),
  context: z.unknown(),
  offered,
  schema,
  tools: z.array(z.string()).max(100).nullish(),
  budget: z
    .object({
      tokens: z.number().positive().optional(),
      cost_usd: z.number().positive().optional(),
      llm_calls: z.number().int().positive().optional(),
      tool_calls: z.number().int().positive().optional(),
      iterations: z.number().int().positive().optional(),
      seconds: z.number().positive().optional(),
    })
    .strict()
    .nullish(),
});

const MAX_BATCH = 10_000;

/** The other fields apply to all prompts. */
export const queries = z.object({
  prompts: z.array(z.string()).min(1).max(MAX_BATCH),
  model: z.string().min(1).max(200).nullish(),
  system: z.string().nullish(),
  schema,
  max_tokens: tokens,
});

const CALLS = {
  llm_query: queries,
  rlm_query: z.object({ tasks: z.array(task).min(1).max(MAX_BATCH) }),
  tool: z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()) }),
  final: z.object({ text: z.string(), data: z.unknown() }),
  budget: z.object({}),
} as const;

export type Queries = Shape<typeof queries>;
export type Query = Omit<Queries, "prompts"> & { readonly prompt: string };
export type Task = Shape<typeof task>;
export type OfferedContext = NonNullable<Task["offered"]>;
export type ParsedCall = {
  [Name in keyof typeof CALLS]: { readonly name: Name } & Shape<(typeof CALLS)[Name]>;
}[keyof typeof CALLS];

/** Throws a TypeError for an unknown call or wrong arguments. */
export function parseCall(name: string, args: unknown): ParsedCall {
  if (!Object.hasOwn(CALLS, name)) throw new TypeError(`There is no call named '${name.slice(0, 80)}'`);
  const parsed = CALLS[name as keyof typeof CALLS].safeParse(args);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(`${name}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? "wrong arguments"}`);
  }
  return { name, ...parsed.data } as ParsedCall;
}
