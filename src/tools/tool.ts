// Host functions that code inside a session may call.

import type { Signal } from "../api/web-types.ts";

/** What the handler of a tool gets beside its arguments. */
export interface ToolContext {
  /** Aborted when the calling code is interrupted, or the run is cancelled. */
  readonly signal: Signal;
}

/** A schema of zod 4, typed structurally, so that only users of tools need zod. */
export interface ZodSchema<Output = unknown> {
  /** Where zod keeps the types. */
  readonly _zod: {
    /** What a checked value is. */
    readonly output: Output;
    /** What it takes. */
    readonly input: unknown;
  };
}

/** A host function that code of a run may call. */
export interface Tool<Schema extends ZodSchema = ZodSchema> {
  /** A Python identifier: code calls it by this name. */
  readonly name: string;
  /** What it does, in the words that the model reads. */
  readonly description: string;
  /** A `z.object`: its fields are the parameters, in this order. */
  readonly schema: Schema;
  /** Called with arguments that the schema accepts. Its result must be JSON; an error that it throws is raised in the code. */
  readonly handler: (args: Schema["_zod"]["output"], context: ToolContext) => unknown;
}

/** Infers the types of the handler's arguments from the schema. */
export function defineTool<Schema extends ZodSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
