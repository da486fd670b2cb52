// Host functions that code inside a session may call.

export interface ToolContext {
  /** Aborted when the code that called is interrupted, or the run is cancelled. */
  readonly signal: AbortSignal;
}

/** A schema of zod 4, known by what it holds: whoever uses tools has zod, and nobody else needs it. */
export interface ZodSchema<Output = unknown> {
  readonly _zod: { readonly output: Output; readonly input: unknown };
}

/** What a tool takes and does. Its answer must be JSON. */
export interface Tool<Schema extends ZodSchema = ZodSchema> {
  /** A Python identifier: code calls it by this name. */
  readonly name: string;
  readonly description: string;
  /** Of an object (`z.object`): its fields are the parameters, in this order. */
  readonly schema: Schema;
  readonly handler: (args: Schema["_zod"]["output"], context: ToolContext) => unknown;
}

/** For type inference: the handler knows what the schema says. */
export function defineTool<Schema extends ZodSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
