// `rlm sessions`: the sessions of a running server.

import { toColumns } from "../io/columns.ts";
import { printError } from "../io/print-error.ts";
import { EXIT, fromError } from "../exit-code.ts";
import { formatAge, formatCount, formatSize, formatTime } from "../../util/text/format.ts";
import { toLine } from "../io/text-block.ts";
import { openServerClient } from "./address.ts";
import { printLines } from "../io/print-lines.ts";
import { sessionList } from "../../protocol/api/sessions.ts";
import { interruptAnswer, sessionInfo, type InterruptAnswer, type SessionInfo } from "../../protocol/sessions.ts";

export interface JSONArguments {
  readonly json?: true;
}

export interface OpenArguments extends JSONArguments {
  readonly id?: string;
  readonly e?: readonly (readonly [string, string])[];
  readonly idleTimeout?: number;
}

export async function listSessions({ json }: JSONArguments): Promise<number> {
  const list = await openServerClient().request("GET", "/v1/sessions", sessionList);
  return printLines(json ? JSON.stringify(list) : toTable(list.sessions, Date.now()));
}

export async function showSession(id: string, { json }: JSONArguments): Promise<number> {
  const shown = await openServerClient().request("GET", pathOf(id), sessionInfo);
  return printLines(json ? JSON.stringify(shown) : toFacts(shown));
}

export async function openSession({ id, e, idleTimeout, json }: OpenArguments): Promise<number> {
  const opened = await openServerClient().request("POST", "/v1/sessions", sessionInfo, {
    json: {
      id,
      env: e && Object.fromEntries(e),
      idleTimeoutMs: idleTimeout === 0 ? null : idleTimeout && idleTimeout * 1000,
    },
  });
  return printLines(json ? JSON.stringify(opened) : toLine(opened.id));
}

/** Continues after a failure; the exit code is that of the last one. */
export async function closeSessions(ids: readonly string[], { json }: JSONArguments): Promise<number> {
  const client = openServerClient();
  const closed: SessionInfo[] = [];
  let code: number = EXIT.ok;
  for (const id of ids) {
    try {
      closed.push(await client.request("DELETE", pathOf(id), sessionInfo));
    } catch (error) {
      printError(error);
      code = fromError(error);
    }
  }
  const lines = closed.map((one) => `${toLine(one.id)} closed after ${formatCount(one.executionCount, "execution")}`);
  await printLines(json ? JSON.stringify({ sessions: closed }) : lines.join("\n"));
  return code;
}

export async function interruptSession(id: string, { json }: JSONArguments): Promise<number> {
  const outcome = await openServerClient().request("POST", `${pathOf(id)}/interrupt`, interruptAnswer);
  return printLines(json ? JSON.stringify(outcome) : describe(outcome));
}

function pathOf(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`;
}

function describe({ interrupted: execution, hasEnded, state }: InterruptAnswer): string {
  if (execution === null) return "nothing runs in it";
  if (!hasEnded) return `${toLine(execution)} has not stopped yet: its worker is about to be ended`;
  return `${toLine(execution)} interrupted${state === null ? "" : `, state ${toLine(state)}`}`;
}

function toTable(sessions: readonly SessionInfo[], now: number): string {
  if (sessions.length === 0) return "no sessions are open";
  const rows = sessions.map((one) => [
    toLine(one.id, 64),
    toLine(one.state, 20),
    formatCount(one.executionCount),
    one.memoryBytes === null ? "-" : formatSize(one.memoryBytes),
    formatAge(now - Date.parse(one.createdAt)),
    one.state === "running" ? "-" : formatAge(now - Date.parse(one.lastExecutedAt ?? one.createdAt)),
  ]);
  const heading = ["ID", "STATE", "EXECUTIONS", "MEMORY", "AGE", "IDLE"];
  return toColumns([heading, ...rows]);
}

function toFacts(one: SessionInfo): string {
  const { variables, variableCount } = one;
  const more = (variableCount ?? 0) - variables.length;
  const names = [...variables, ...(more > 0 ? [`and ${formatCount(more)} more`] : [])].join(", ");
  const facts: readonly (readonly [string, string])[] = [
    ["id", one.id],
    ["state", one.waiting === 0 ? one.state : `${one.state}, ${one.waiting} waiting`],
    ["environment", one.environment],
    ["opened", formatTime(Date.parse(one.createdAt))],
    ["last executed", one.lastExecutedAt === null ? "never" : formatTime(Date.parse(one.lastExecutedAt))],
    ["executions", formatCount(one.executionCount)],
    ["epoch", String(one.epoch)],
    ["memory", one.memoryBytes === null ? "not known" : formatSize(one.memoryBytes)],
    ["variables", variableCount === null ? "not known" : names || "none"],
  ];
  return facts.map(([name, value]) => `${name.padEnd(15)}${toLine(value, 2000)}`).join("\n");
}
