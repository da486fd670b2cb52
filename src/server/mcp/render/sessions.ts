// Renders sessions.

import type { EnvironmentReport } from "../../../environments/environment.ts";
import type { Runtime } from "../../../runtime.ts";
import { describeCapabilities } from "../../../protocol/capabilities.ts";
import type { SaveReport } from "../../../protocol/session-manifest.ts";
import type { SessionInfo } from "../../../protocol/sessions.ts";
import type { Session } from "../../../session/session.ts";
import type { SessionFacts, SessionFileFacts, SessionListFacts } from "../output-schema.ts";
import { limitLength, type ToolResult } from "./result.ts";
import type { HostPaths, OpenedFile } from "../calls/host-paths.ts";
import { IDLE_MINUTES } from "../tools/tool-call.ts";
import { formatCount, formatSize } from "../../../util/text/format.ts";
import { shorten } from "../../../util/text/shorten.ts";
import { joinParts } from "./format.ts";
import { seatBeltWarning } from "../../../views/seat-belt.ts";

const MAX_NAMES = 12;
const MAX_NAME = 40;
const MAX_SKIPPED = 20;
/** For programs, which read more than a model. */
const MAX_FACTS = 1_000;

export function describeCreated(
  session: Session,
  includeStdlib: boolean,
  hostPaths: HostPaths,
): ToolResult<SessionFacts> {
  const { loaded, error } = session.stdlib;
  const visible = hostPaths.describe();
  const text = joinParts(
    `Session '${session.id}' is ready. It ends after ${IDLE_MINUTES} minutes without use.`,
    `Standard library: ${describeStdlib(includeStdlib, loaded, error)}.`,
    visible === "" ? "" : `Folders that it sees: ${visible}.`,
  );
  return { text: limitLength(text), facts: { session_id: session.id, stdlib_loaded: loaded } };
}

function describeStdlib(
  includeStdlib: boolean,
  loaded: boolean,
  error: { readonly name: string; readonly value: string } | null,
): string {
  if (error !== null) return `not loaded, because of ${error.name}: ${error.value}`;
  if (loaded) return "loaded";
  return includeStdlib ? "empty" : "not wanted";
}

export async function listSessions(runtime: Runtime): Promise<ToolResult<SessionListFacts>> {
  const sessions = runtime.sessions.list();
  const infos = await Promise.all(sessions.map((session) => session.info()));
  const environments = describeEnvironments(runtime.report(), sessions);
  if (infos.length === 0) {
    return { text: `There are no sessions yet. execute_python makes 'default'.\n${environments}` };
  }
  const rows = infos.map((info) => [
    info.id,
    info.waiting > 0 ? `${info.state}, ${info.waiting} waiting` : info.state,
    String(info.executionCount),
    toClock(info.createdAt),
    info.lastExecutedAt === null ? "never" : toClock(info.lastExecutedAt),
    info.memoryBytes === null ? "unknown" : formatSize(info.memoryBytes),
    describeNames(info),
  ]);
  const table = toTable(["id", "state", "executions", "created", "last executed", "memory", "variables"], rows);
  return {
    text: `${limitLength(table, "destroy sessions that are not needed")}\n${environments}`,
    facts: { sessions: infos.map(toFacts) },
  };
}

/** Where sessions run, and what they can do there: the default, then others with their sessions. */
function describeEnvironments(usual: EnvironmentReport, sessions: readonly Session[]): string {
  const all = [...new Set(sessions.map(({ tasks }) => tasks.environment))];
  const others = all.filter(({ name }) => name !== usual.name); // the same one with another interpreter can do the same
  const lines = others.map((environment) => {
    const ids = sessions.flatMap(({ id, tasks }) => (tasks.environment === environment ? [`'${id}'`] : []));
    return `Environment of ${listNames(ids)}: ${describeEnvironment(environment.report())}`;
  });
  return [`Environment: ${describeEnvironment(usual)}`, ...lines].join("\n");
}

function describeEnvironment(report: EnvironmentReport): string {
  const { name, tier, capabilities } = report;
  const warning = seatBeltWarning(report);
  const where = tier === null ? name : `${name}, sandbox tier ${tier}`;
  return `${where}: ${describeCapabilities(capabilities)}${warning === undefined ? "" : `; ${warning}`}.`;
}

export function describeDestroyed(info: SessionInfo): ToolResult<SessionFacts> {
  const lived = Date.now() - Date.parse(info.createdAt);
  const text = `Session '${info.id}' has ended: ${formatCount(info.executionCount, "execution")} in ${Math.round(lived / 1000)} s, variables: ${describeNames(info)}.`;
  return { text: limitLength(text), facts: toFacts(info) };
}

export function describeSaved(
  { names, skipped, sizeBytes }: SaveReport,
  { shown }: OpenedFile,
): ToolResult<SessionFileFacts> {
  const text = joinParts(
    `Saved ${formatCount(names.length, "name")} (${formatSize(sizeBytes)}) to ${shown}${toList(names)}`,
    describeSkipped(skipped, "saved"),
  );
  return { text: limitLength(text), facts: { path: shown, size_bytes: sizeBytes, ...toNameFacts(names, skipped) } };
}

export function describeLoaded(session: Session, { shown }: OpenedFile): ToolResult<SessionFileFacts> {
  const { names, skipped } = session.loaded ?? { names: [], skipped: [] };
  const text = joinParts(
    `Session '${session.id}' has ${formatCount(names.length, "name")} from ${shown}${toList(names)}`,
    describeSkipped(skipped, "loaded"),
  );
  return { text: limitLength(text), facts: { session_id: session.id, path: shown, ...toNameFacts(names, skipped) } };
}

function toList(names: readonly string[]): string {
  return names.length === 0 ? "." : `: ${listNames(names)}`;
}

/** The first names, and their total. */
function toNameFacts(names: readonly string[], skipped: SaveReport["skipped"]): SessionFileFacts {
  return {
    names: names.slice(0, MAX_FACTS),
    name_count: names.length,
    skipped: skipped.slice(0, MAX_FACTS),
    skipped_count: skipped.length,
  };
}

function describeSkipped(skipped: SaveReport["skipped"], what: string): string {
  const lines = skipped.slice(0, MAX_SKIPPED).map(({ name, why }) => `not ${what}: ${name}: ${why}`);
  const more = skipped.length - lines.length;
  return joinParts(...lines, more > 0 ? `not ${what}: ${more} more` : "");
}

function describeNames({ variableCount, variables }: SessionInfo): string {
  if (variableCount === null) return "unknown";
  return variableCount === 0 ? "none" : `${variableCount}: ${listNames(variables, variableCount)}`;
}

function listNames(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => shorten(name, MAX_NAME));
  return shown.join(", ") + (total > shown.length ? ", …" : "");
}

function toFacts(info: SessionInfo): SessionFacts {
  const { inspectWhileRunning: inspect_while_running, ...capabilities } = info.capabilities;
  return {
    session_id: info.id,
    environment: info.environment,
    tier: info.tier,
    capabilities: { ...capabilities, inspect_while_running },
    state: info.state,
    created_at: info.createdAt,
    last_executed_at: info.lastExecutedAt,
    execution_count: info.executionCount,
    epoch: info.epoch,
    variable_count: info.variableCount,
    memory_bytes: info.memoryBytes,
  };
}

/** `2026-11-16T05:20:40.123Z` becomes `2026-11-16 05:20:40`. */
function toClock(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 19)}`;
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
