// Answers of a worker about its namespace, parsed. User code shares the worker's process and may forge all of them.
//
// Each parser returns undefined for an answer that no worker of ours gives.

import { z } from "zod";
import { parseWith } from "./parse.ts";
import {
  completions,
  inspectedVariable,
  namespaceStatistics,
  signature,
  sourceText,
  variableList,
  variableRows,
  type Completions,
  type InspectedVariable,
  type NamespaceStatistics,
  type Signature,
  type SourceText,
  type VariableList,
  type VariableRows,
} from "../variables.ts";
import type { TablePart } from "./host-messages.ts";
import type { StatusEvent } from "./worker-events.ts";

type Answer = NonNullable<StatusEvent["data"]>;

const lenientVariables = lenient(variableList);
const lenientInspection = lenient(inspectedVariable);
const lenientRows = lenient(variableRows);
const lenientCompletions = lenient(completions);
const lenientSignature = lenient(signature);

export function parseVariableList(answer: Answer): VariableList | undefined {
  const list = parseWith(lenientVariables, answer);
  return list !== undefined && list.total >= list.variables.length ? list : undefined;
}

export function parseStatistics(answer: Answer): NamespaceStatistics | undefined {
  const statistics = parseWith(namespaceStatistics, answer);
  return statistics !== undefined && statistics.variableCount >= statistics.variables.length ? statistics : undefined;
}

/** Null: there is no such name. Texts that are longer than requested are left out. */
export function parseInspection(
  answer: Answer,
  name: string,
  maxCharacters: number,
): InspectedVariable | null | undefined {
  if (answer["found"] === false) return null;
  const inspected = parseWith(lenientInspection, { errors: {}, ...answer, name });
  if (inspected === undefined) return undefined;
  const { repr, str, ...rest } = inspected;
  const fits = (shown: typeof repr): shown is NonNullable<typeof repr> =>
    shown !== undefined && shown.text.length <= 2 * maxCharacters;
  return { ...rest, ...(fits(repr) && { repr }), ...(fits(str) && { str }) };
}

/** Null: there is no such name. */
export function parseRows(answer: Answer, part: TablePart): VariableRows | null | undefined {
  if (answer["found"] === false) return null;
  const { start, count, columnStart, columnCount } = part;
  const empty = { columns: [], index: [], rows: [], total: null, totalColumns: null };
  const found = parseWith(lenientRows, { ...empty, ...answer, start, columnStart });
  if (found === undefined) return undefined;
  const { columns, index, rows } = found;
  const isAsked = columns.length <= columnCount && rows.length <= count && index.length === rows.length;
  return isAsked && rows.every((row) => row.length === columns.length) ? found : undefined;
}

/** `start` and `end` are counted in code points, as in Python. */
export function parseCompletions(answer: Answer, cursor: number): Completions | undefined {
  const found = parseWith(lenientCompletions, { matches: [], total: 0, start: cursor, end: cursor, ...answer });
  if (found === undefined || found.total < found.matches.length) return undefined;
  return found.end === cursor && found.start <= cursor ? found : undefined;
}

/** Null: no known call is open at the cursor, or inspecting it took too long. */
export function parseSignature({ signature: found = null }: Answer): Signature | null | undefined {
  return found === null ? null : parseWith(lenientSignature, found);
}

/** Null: there is no such name or no source of it, or finding it took too long. */
export function parseSource({ source: found = null }: Answer): SourceText | null | undefined {
  return found === null ? null : parseWith(sourceText, found);
}

/** The same schema, but an optional or nullable field with an invalid value counts as absent or null. */
function lenient<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return relax(schema) as z.ZodType<z.output<Schema>>;
}

function relax(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodExactOptional) return z.optional(relax(schema.unwrap())).catch(undefined);
  if (schema instanceof z.ZodNullable) return schema.catch(null);
  if (schema instanceof z.ZodArray) return schema.clone({ ...schema.def, element: relax(schema.element) });
  if (!(schema instanceof z.ZodObject)) return schema;
  const fields = Object.entries(schema.shape as z.core.$ZodShape).map(([name, field]) => [name, relax(field)] as const);
  return z.object(Object.fromEntries(fields)).transform(omitUndefined);
}

/** Changes the object, which the parser has just made: a copy would take three times as long. */
function omitUndefined(object: Record<string, unknown>): object {
  for (const name in object) if (object[name] === undefined) delete object[name];
  return object;
}
