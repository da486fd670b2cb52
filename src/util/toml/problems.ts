// Describes what is wrong with the data of a configuration: the key, what it must be, and what was probably meant. Values are not
// quoted, because they may be secrets, except those of an enumeration.

import { z } from "zod";
import { didYouMean } from "../text/did-you-mean.ts";
import { toKeyName } from "./key-name.ts";

export interface Problem {
  /** The path of the key. */
  readonly path: readonly string[];
  readonly why: string;
  readonly isMissing?: true;
}

/** Keys whose value does not belong in a shared file. */
const SECRETS: ReadonlySet<string> = new Set(["api_key", "apikey", "key", "token", "secret", "password"]);

/** Missing keys come last: where one is misspelt, that is what the user has to see. */
export function toProblems(error: z.ZodError, schema: z.ZodType, data: unknown): Problem[] {
  const problems = error.issues.flatMap((issue): Problem[] => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...path, key], why: unknownKey(path, key, schema) }));
    }
    const value = valueAt(data, path);
    const isMissing = issue.code === "invalid_type" && value === undefined;
    return [{ path, why: `${nameOf(path)} ${describe(issue, value)}`, ...(isMissing && { isMissing }) }];
  });
  return [...problems.filter(({ isMissing }) => !isMissing), ...problems.filter(({ isMissing }) => isMissing)];
}

function unknownKey(under: readonly string[], key: string, schema: z.ZodType): string {
  const name = nameOf([...under, key]);
  if (SECRETS.has(key.toLowerCase().replaceAll("-", "_"))) return withoutSecret(name, under);
  const known = keysAt(schema, under);
  const home = known.find((section) => keysAt(schema, [...under, section]).includes(key));
  if (home !== undefined) return `there is no ${name} at the top; it belongs under [${home}]`;
  const near = didYouMean(key, known);
  if (near !== undefined) return `there is no ${name}; did you mean ${near}?`;
  return `there is no ${name}; known ${under.length === 0 ? "are the sections" : "are"} ${known.join(", ")}`;
}

function withoutSecret(name: string, [section]: readonly string[]): string {
  const fix =
    section === "mcp_servers"
      ? 'name the variable, token_env = "MY_TOKEN", or a file, token_file = "..."'
      : 'name the variable, api_key_env = "OPENAI_API_KEY"';
  return `${name} is not read: a secret does not belong in this file. Put it into the environment or into .env, and ${fix}`;
}

function describe(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      if (value === undefined) return "is missing";
      return `must be ${KINDS[issue.expected] ?? issue.expected}, and is ${kindOf(value)}`;
    case "invalid_value":
      return `must be ${issue.values.map((known) => JSON.stringify(known)).join(" or ")}${suggestion(value, issue.values)}`;
    case "too_small":
      if (issue.origin === "string") return "must not be empty";
      return `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? "has a name that cannot be used";
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_union":
    case "not_multiple_of":
    case "unrecognized_keys":
      return issue.message;
  }
}

function suggestion(value: unknown, known: readonly unknown[]): string {
  const near = typeof value === "string" ? didYouMean(value, known.map(String)) : undefined;
  return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a text in quotes",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a table",
  record: "a table",
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a table";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a number with a fraction";
  return typeof value === "string" ? "a text" : "true or false";
}

/** The path as written in TOML, in quotes. */
function nameOf(path: readonly string[]): string {
  return path.length === 0 ? "it" : `'${toKeyName(path)}'`;
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined,
    data,
  );
}

/** The keys that the schema allows at a path. */
function keysAt(schema: z.ZodType, path: readonly string[]): string[] {
  if (schema instanceof z.ZodOptional) return keysAt(schema.unwrap() as z.ZodType, path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodRecord) return key === undefined ? [] : keysAt(schema.valueType as z.ZodType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
  if (key === undefined) return Object.keys(shape);
  const inner = shape[key];
  return inner === undefined ? [] : keysAt(inner, rest);
}
