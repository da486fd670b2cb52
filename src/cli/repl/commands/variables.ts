// :vars, :inspect and the source of a name. Code in the session controls what they show.

import type { InspectedVariable, Variable } from "../../../protocol/variables.ts";
import { shorten } from "../../../util/text/shorten.ts";
import { need, type ReplContext } from "../context.ts";

const MAX_NAME = 24;
const MAX_PREVIEW = 48;
const MAX_COLUMNS = 20;

export async function showVariables(context: ReplContext): Promise<void> {
  const { variables, total } = await context.session.variables();
  if (variables.length === 0) return context.line("no variables");
  const rows = variables.map((variable) => [variable.name, toKind(variable), toExcerpt(variable)] as const);
  const widths = [0, 1].map((column) => Math.min(MAX_NAME, Math.max(...rows.map((row) => row[column]?.length ?? 0))));
  for (const [name, kind, preview] of rows) {
    context.line(`${name.padEnd(widths[0] ?? 0)}  ${kind.padEnd(widths[1] ?? 0)}  ${preview}`.trimEnd());
  }
  if (total > variables.length) context.line(`and ${total - variables.length} more`);
}

/** Shows a variable; for a function or class also its signature and documentation. */
export async function inspect(context: ReplContext, [wanted]: readonly string[]): Promise<void> {
  const name = need(wanted, "a name");
  const found = name.includes(".") ? null : await context.session.inspect(name);
  const isCalled = found === null || found.kind === "function" || found.kind === "class";
  const called = isCalled ? await context.session.signature(`${name}(`, name.length + 1) : null;
  if (found === null && called === null) throw new Error(`there is no '${name}'`);
  if (called !== null) context.line(`${called.name}${called.signature}`);
  if (called !== null && called.documentation !== "") context.line(called.documentation);
  for (const [label, text] of found === null ? [] : facts(found)) {
    context.line(text.includes("\n") ? `${label}:\n${text}` : `${label}: ${text}`);
  }
}

/** Shows the source of a function, class or module. What has none is shown as `inspect` does. */
export async function showSource(context: ReplContext, name: string): Promise<void> {
  const found = await context.session.source(name);
  if (found === null) return inspect(context, [name]);
  const { text, total, file, line } = found;
  context.line(file.startsWith("<") ? `${file}, line ${line}` : `${file}:${line}`);
  context.code(text);
  if (total > text.length) context.line(`… ${total - text.length} more characters`);
}

function* facts(found: InspectedVariable): Generator<readonly [label: string, text: string]> {
  yield ["type", `${found.module === null || found.module === "builtins" ? "" : `${found.module}.`}${toKind(found)}`];
  if (found.length !== undefined) yield ["length", String(found.length)];
  if (found.sizeBytes !== undefined) yield ["size", `${found.sizeBytes} bytes`];
  if (found.columns !== undefined) {
    const shown = found.columns.slice(0, MAX_COLUMNS).map((column) => `${column.name} (${column.dtype})`);
    const more = (found.columnCount ?? found.columns.length) - shown.length;
    yield ["columns", `${shown.join(", ")}${more > 0 ? `, and ${more} more` : ""}`];
  }
  const value = found.repr?.text ?? found.preview;
  if (value !== undefined) yield ["value", value];
  for (const [what, error] of Object.entries(found.errors)) if (error !== undefined) yield [`no ${what}`, error];
  if (found.incomplete !== null) yield ["not all was found out", found.incomplete];
}

function toKind({ type, shape, dtype }: Variable): string {
  return [type, shape?.join("x"), dtype].filter((part) => part !== undefined && part !== "").join(" ");
}

function toExcerpt({ preview, length }: Variable): string {
  const line = preview?.replaceAll(/\s+/g, " ") ?? (length === undefined ? "" : `${length} items`);
  return shorten(line, MAX_PREVIEW);
}
