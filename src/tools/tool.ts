// Host functions that code inside a session may call.

export interface ToolContext {
  /** Aborted when the calling code is interrupted, or the run is cancelled. */
  readonly signal: AbortSignal;
}

/** A schema of zod 4, typed structurally, so that only users of tools need zod. */
export interface ZodSchema<Output = unknown> {
  readonly _zod: { readonly output: Output; readonly input: unknown };
}

/** A tool's result must be JSON. */
export interface Tool<Schema extends ZodSchema = ZodSchema> {
  /** A Python identifier: code calls it by this name. */
  readonly name: string;
  readonly description: string;
  /** A `z.object`: its fields are the parameters, in this order. */
  readonly schema: Schema;
  readonly handler: (args: Schema["_zod"]["output"], context: ToolContext) => unknown;
}

/** Infers the types of the handler's arguments from the schema. */
export function defineTool<Schema extends ZodSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
