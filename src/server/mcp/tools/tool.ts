// A tool is data: its listing, and the function that runs when it is called.
//
// Arguments come from a model. They are validated here, once, against the published schema, with some tolerance: numbers and booleans may
// be strings, and optional ones may be null.

import { z } from "zod";
import type { Shape as Shaped } from "../../../protocol/shape.ts";
import type { ToolResult } from "../render/result.ts";
import { noFacts } from "../output-schema.ts";
import { ArgumentsError } from "./arguments-error.ts";
import type { ToolCall } from "./tool-call.ts";

export const GROUPS = ["sandbox", "sessions", "repl", "shell", "rlm"] as const;
export type ToolGroup = (typeof GROUPS)[number];

/** What a client may assume of a tool. Absent hints mean the worst case, as the protocol defines. */
export interface Annotations {
  readonly readOnlyHint?: true;
  readonly destructiveHint?: false;
  readonly idempotentHint?: true;
  /** Nothing in a sandbox reaches the network, but data for a provider's model does. */
  readonly openWorldHint: boolean;
}

export const READS: Annotations = { readOnlyHint: true, openWorldHint: false };
export const RUNS: Annotations = { openWorldHint: false };
export const ASKS: Annotations = { openWorldHint: true };
export const ADDS: Annotations = { destructiveHint: false, openWorldHint: false };
export const CLEARS: Annotations = { idempotentHint: true, openWorldHint: false };

export interface MCPTool {
  readonly group: ToolGroup;
  /** As in `tools/list`. The same text in every process. */
  readonly listing: ToolListing;
  /** Of the facts in its results. */
  readonly output: z.ZodObject;
  /** Throws ArgumentsError, or what the work throws. */
  readonly call: (args: unknown, call: ToolCall) => Promise<ToolResult>;
}

export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly annotations: Annotations;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
}

export interface PropertySchema {
  readonly type: "string" | "integer" | "boolean";
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Definition<Shape extends z.ZodRawShape, Output extends z.ZodObject> {
  readonly title: string;
  readonly description: string;
  readonly input: Shape;
  readonly annotations: Annotations;
  /** Clients that hide most tools until they are searched for should show this one. */
  readonly isCore?: true;
  /** Default: it has no facts. */
  readonly output?: Output;
  /** Names that other servers use for a parameter: accepted, but not listed. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly call: (args: z.output<z.ZodObject<Shape>>, call: ToolCall) => Promise<ToolResult<Shaped<Output>>>;
}

const ALWAYS_LOAD = { "anthropic/alwaysLoad": true };

type DefineTool = <Shape extends z.ZodRawShape, Output extends z.ZodObject = typeof noFacts>(
  name: string,
  definition: Definition<Shape, Output>,
) => MCPTool;

export function toolsIn(group: ToolGroup): DefineTool {
  return (name, { title, description, annotations, isCore, output = noFacts, aliases = {}, input, call }) => {
    const schema = z.object(input);
    const inputSchema = toPublished(schema);
    return {
      group,
      output,
      listing: { name, title, description, inputSchema, annotations, ...(isCore && { _meta: ALWAYS_LOAD }) },
      call: async (args, toolCall) => {
        const parsed = schema.safeParse(forgive(name, args, inputSchema, aliases));
        if (!parsed.success) throw new ArgumentsError(describe(name, parsed.error));
        return call(parsed.data, toolCall);
      },
    };
  };
}

/** Without the dialect, and without limits that every integer has. */
function toPublished(schema: z.ZodObject): ObjectSchema {
  const { properties = {}, required } = z.toJSONSchema(schema, { io: "input" });
  const published = Object.entries(properties).map(([name, property]) => {
    const { type, description, minimum, maximum } = property as PropertySchema;
    return [
      name,
      {
        type,
        ...(description !== undefined && { description }),
        ...(isInformative(minimum) && { minimum }),
        ...(isInformative(maximum) && { maximum }),
      },
    ];
  });
  return {
    type: "object",
    properties: Object.fromEntries(published) as ObjectSchema["properties"],
    ...(required !== undefined && required.length > 0 && { required }),
  };
}

/** Larger limits are irrelevant in practice. */
function isInformative(limit: number | undefined): boolean {
  return limit !== undefined && Math.abs(limit) < 1_000_000;
}

function forgive(
  tool: string,
  args: unknown,
  { properties }: ObjectSchema,
  aliases: Readonly<Record<string, string>>,
): Record<string, unknown> {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object" || Array.isArray(args)) throw new ArgumentsError(`${tool} takes an object`);
  const forgiven: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(args)) {
    const name = Object.hasOwn(properties, key) ? key : (aliases[key] ?? key);
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) throw new ArgumentsError(describeUnknown(tool, key, properties));
    if (value !== null) forgiven[name] = toType(value, property.type);
  }
  return forgiven;
}

function toType(value: unknown, type: PropertySchema["type"]): unknown {
  if (typeof value !== "string") return value;
  if (type === "integer" && /^\s*-?\d{1,15}(\.0*)?\s*$/.test(value)) return Number(value);
  if (type === "boolean" && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}

function describeUnknown(tool: string, key: string, properties: ObjectSchema["properties"]): string {
  const names = Object.keys(properties);
  const known = names.length === 0 ? "It takes none." : `It takes: ${names.join(", ")}.`;
  return `${tool} has no parameter '${key.slice(0, 80)}'. ${known}`;
}

function describe(tool: string, { issues }: z.ZodError): string {
  const wrong = issues.slice(0, 5).map(({ path, message }) => `${path.join(".")}: ${toFault(message)}`);
  return `Wrong arguments for ${tool}. ${wrong.join("; ")}`;
}

function toFault(message: string): string {
  return message.endsWith("received undefined") ? "it is missing" : message.replace(/^Invalid input: /, "");
}
