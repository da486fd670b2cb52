// Renders the variables of a session: types, sizes and previews, never whole values.

import type { Session } from "../../../session/session.ts";
import type { InspectedVariable, Variable } from "../../../protocol/variables.ts";
import type { VariableFacts } from "../output-schema.ts";
import { limitLength, type ToolResult } from "./result.ts";
import { countCharacters } from "../../../util/text/truncate-text.ts";
import { formatCount, formatSize } from "../../../util/text/format.ts";
import { shorten } from "../../../util/text/shorten.ts";
import { joinParts, toReprCall } from "./format.ts";

const MAX_PREVIEW = 80;
/** Of a single variable. */
const MAX_VALUE = 2_000;
const MAX_COLUMNS = 50;
const NO_TIME = "its own code took too long";

export async function describeNamespace(
  session: Session,
  name: string | undefined,
): Promise<ToolResult<VariableFacts>> {
  return name === undefined ? listVariables(session) : describeVariable(session, name);
}

async function listVariables(session: Session): Promise<ToolResult<VariableFacts>> {
  const { variables, total } = await session.variables();
  const own = variables.filter(({ kind }) => kind !== "module");
  const modules = variables.filter(({ kind }) => kind === "module").map(({ name }) => name);
  const unlisted = total - variables.length;
  const text = joinParts(
    own.length === 0 ? `Session '${session.id}' has no variables.` : own.map(toLine).join("\n"),
    modules.length === 0 ? "" : `modules: ${modules.join(", ")}`,
    unlisted > 0 ? `and ${formatCount(unlisted, "more name")}` : "",
  );
  return {
    text: limitLength(text, "ask for one by its name"),
    facts: { session_id: session.id, variable_count: total },
  };
}

async function describeVariable(session: Session, name: string): Promise<ToolResult<VariableFacts>> {
  const variable = await session.inspect(name, { maxCharacters: MAX_VALUE });
  if (variable === null) {
    const { variables } = await session.variables();
    const known = variables.slice(0, 20).map((other) => other.name);
    const names =
      known.length === 0 ? "It has none." : `It has: ${known.join(", ")}${variables.length > 20 ? ", …" : ""}.`;
    return {
      text: limitLength(`Session '${session.id}' has no variable '${name.slice(0, 80)}'. ${names}`),
      isError: true,
    };
  }
  return {
    text: limitLength(toDetails(variable, session.id)),
    facts: { session_id: session.id, name, type: variable.type },
  };
}

function toLine(variable: Variable): string {
  const { name, kind, preview } = variable;
  const what = kind === "variable" ? toKind(variable) : kind;
  return `${name}: ${what}${preview === undefined ? "" : ` = ${toPreview(preview)}`}`;
}

function toKind({ type, length, shape, dtype }: Variable): string {
  const facts = [
    ...(shape === undefined ? [] : [shape.join("×")]),
    ...(dtype === undefined ? [] : [dtype]),
    ...(shape === undefined && length !== undefined ? [`length ${formatCount(length)}`] : []),
  ];
  return facts.length === 0 ? type : `${type} (${facts.join(", ")})`;
}

function toDetails(variable: InspectedVariable, sessionId: string): string {
  const { name, kind, sizeBytes, columns, columnCount = 0, repr, errors, incomplete } = variable;
  const head = `${name}: ${kind === "variable" ? toKind(variable) : kind}`;
  const shownColumns = columns?.slice(0, MAX_COLUMNS).map((column) => `${column.name} (${column.dtype})`) ?? [];
  const moreColumns = columnCount > shownColumns.length ? `, … ${columnCount} in all` : "";
  return joinParts(
    sizeBytes === undefined ? head : `${head}, ${formatSize(sizeBytes)}`,
    shownColumns.length === 0 ? "" : `columns: ${shownColumns.join(", ")}${moreColumns}`,
    repr === undefined ? "" : repr.text,
    repr !== undefined && repr.total !== countCharacters(repr.text) ? toCutNote(name, repr.total, sessionId) : "",
    ...Object.entries(errors).map(([what, error]) => `[${what}: ${toPreview(error)}]`),
    incomplete === null ? "" : `[not all is known: ${incomplete === "timeout" ? NO_TIME : incomplete}]`,
  );
}

function toCutNote(name: string, total: number | null, sessionId: string): string {
  const of = total === null ? "" : ` of ${formatCount(total)}`;
  const call = IDENTIFIER.test(name)
    ? `read on with ${toReprCall(name, [MAX_VALUE, total ?? Infinity], sessionId)}`
    : "print a part of it for more";
  return `[the first ${formatCount(MAX_VALUE)}${of} characters; ${call}]`;
}

/** Whether the name can be written in code as it is. */
const IDENTIFIER = /^[\p{ID_Start}_]\p{ID_Continue}*$/u;

function toPreview(text: string): string {
  return shorten(text.replaceAll(/\s+/g, " "), MAX_PREVIEW);
}
