// What `rlm run` is asked: the question, the form of its answer, and what the context lacks.

import { printError } from "../io/print-error.ts";
import { UsageError } from "../options/usage-error.ts";
import { readJSON } from "./context/contexts.ts";

/** Throws a UsageError where there is none. */
export function checkQuestion(question: string | undefined): string {
  if (question !== undefined && question.trim() !== "") return question;
  throw new UsageError("nothing to answer: the question comes first. Run 'rlm run --help', or 'rlm run --demo'");
}

/** JSON Schema from a file. Throws a UsageError. */
export async function readSchema(path: string | undefined): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (path === undefined) return undefined;
  const schema = await readJSON(path, "the schema ");
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema as Record<string, unknown>;
  throw new UsageError(`cannot use the schema '${path}': a JSON Schema is an object`);
}

/** The names after --context. Says so where one of them is a terminal. */
export function contextNames({ context = [] }: { readonly context?: readonly string[] }): readonly string[] {
  if (context.includes("-") && process.stdin.isTTY) printError("reading the context from the terminal: Ctrl-D ends it");
  return context;
}

/** Says what the context is, and what was skipped. */
export function reportContext(found: { readonly summary: string; readonly skipped?: string }, quiet = false): void {
  const { summary, skipped = "" } = found;
  if (quiet) return;
  if (summary !== "") process.stderr.write(`context: ${summary}\n`);
  if (skipped !== "") printError(`not in the context: ${skipped}`);
}
