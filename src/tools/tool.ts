// Host functions that code inside a session may call.

import type { z } from "zod";

export interface ToolContext {
  /** Aborted when the code that called is interrupted, or the run is cancelled. */
  readonly signal: AbortSignal;
}

/** What a tool takes and does. Its answer must be JSON. */
export interface Tool<Shape extends z.ZodObject = z.ZodObject> {
  /** A Python identifier: code calls it by this name. */
  readonly name: string;
  readonly description: string;
  /** Its fields are the parameters, in this order. */
  readonly schema: Shape;
  readonly handler: (args: z.output<Shape>, context: ToolContext) => unknown;
}

/** For type inference: the handler knows what the schema says. */
export function defineTool<Shape extends z.ZodObject>(tool: Tool<Shape>): Tool {
  return tool;
}
