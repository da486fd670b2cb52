// The tools of a run: looked up by name, called with checked arguments, described for a model.

import { z } from "zod";
import { ToolNotFoundError } from "../errors.ts";
import { isPythonName } from "../util/python-name.ts";
import { INITIAL_NAMES, RESERVED_NAMES } from "./run-names.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** A tool as the session and the prompt describe it. */
export interface ToolListing {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly doc: string;
  /** `name(path: str, limit: int = ...) -> ...`, for the prompt. */
  readonly signature: string;
}

/** ASCII only, which models write reliably. */
const PLAIN = /^[A-Za-z0-9_]{1,64}$/;

/** Of a result as JSON. */
const MAX_RESULT_CHARACTERS = 16 * 1024 * 1024;

export class ToolRegistry {
  readonly #tools: ReadonlyMap<string, Tool>;

  /** Throws a RangeError for a name that is not a Python identifier, is reserved, or is used twice. */
  constructor(tools: readonly Tool[]) {
    const byName = new Map<string, Tool>();
    for (const tool of tools) {
      if (!PLAIN.test(tool.name) || !isPythonName(tool.name))
        throw new RangeError(`Cannot use '${tool.name}' as the name of a tool: give a Python identifier`);
      if (RESERVED_NAMES.has(tool.name) || INITIAL_NAMES.has(tool.name))
        throw new RangeError(
          `Cannot use '${tool.name}' as the name of a tool: it means something in a session already`,
        );
      objectOf(tool);
      if (byName.has(tool.name)) throw new RangeError(`Cannot use two tools named '${tool.name}'`);
      byName.set(tool.name, tool);
    }
    this.#tools = byName;
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** A registry of these tools only. Throws ToolNotFoundError for an unknown name. */
  pick(names: readonly string[]): ToolRegistry {
    return new ToolRegistry([...new Set(names)].map((name) => this.#get(name)));
  }

  listings(): readonly ToolListing[] {
    return [...this.#tools.values()].map(toListing);
  }

  /** The handler's result as JSON data. Throws ToolNotFoundError, a TypeError for wrong arguments, or what the handler throws. */
  async call(name: string, args: unknown, context: ToolContext): Promise<unknown> {
    const tool = this.#get(name);
    const parsed = await objectOf(tool).strict().safeParseAsync(args);
    if (!parsed.success) {
      const wrong = parsed.error.issues
        .slice(0, 5)
        .map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`);
      throw new TypeError(`${name}: ${wrong.join("; ")}`);
    }
    return toPlain(name, await tool.handler(parsed.data, context));
  }

  #get(name: string): Tool {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new ToolNotFoundError({ tool: name, known: this.names });
    return tool;
  }
}

/** A copy, so that later changes by the handler have no effect. Undefined becomes null, which is None in Python. */
function toPlain(name: string, value: unknown): unknown {
  const text = toJSON(name, value);
  if (text.length <= MAX_RESULT_CHARACTERS) return JSON.parse(text) as unknown;
  const limit = `the limit is ${MAX_RESULT_CHARACTERS}`;
  throw new RangeError(`${name}: its answer has ${text.length} characters of JSON, ${limit}`);
}

function toJSON(name: string, value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    throw new TypeError(`${name}: its answer is nothing that JSON can say`, { cause: error });
  }
}

/** A JSON value as a Python literal. */
function toPython(value: unknown): string {
  if (value === undefined || value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(toPython).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${toPython(item)}`)
    .join(", ")}}`;
}

interface Property {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
}

const PYTHON: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  array: "list",
  object: "dict",
};

/** Accepts schemas of another copy of zod 4, too. */
function objectOf({ name, schema }: Tool): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  throw new TypeError(`Cannot use the tool '${name}': its schema must be a z.object of zod 4`);
}

function toListing(tool: Tool): ToolListing {
  const { name, description } = tool;
  const { properties = {}, required = [] } = z.toJSONSchema(objectOf(tool), { io: "input", unrepresentable: "any" });
  const parameters = Object.entries(properties as Readonly<Record<string, Property>>);
  const parts = parameters.map(([key, { type, default: value }]) => {
    const annotation = `${key}: ${PYTHON[type ?? ""] ?? "Any"}`;
    if (required.includes(key)) return annotation;
    return `${annotation} = ${toPython(value)}`;
  });
  const signature = `${name}(${parts.join(", ")})`;
  const lines = parameters.flatMap(([key, { description: about }]) =>
    about === undefined ? [] : [`  ${key}: ${about}`],
  );
  return { name, parameters: parameters.map(([key]) => key), signature, doc: [description, ...lines].join("\n") };
}
