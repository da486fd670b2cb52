// `rlm sessions`: the sessions of a running server.

import { isColoured, toColumns } from "../io/columns.ts";
import { complain } from "../io/print-error.ts";
import { EXIT, fromError } from "../exit-code.ts";
import { toAge, toCount, toSize, toTime } from "../logs/format.ts";
import { toLine } from "../logs/text-block.ts";
import { Palette } from "../repl/display/palette.ts";
import { openServerClient } from "../../client/client.ts";
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
  const list = await openServerClient().ask("GET", "/v1/sessions", sessionList);
  return printLines(json ? JSON.stringify(list) : toTable(list.sessions, Date.now()));
}

export async function showSession(id: string, { json }: JSONArguments): Promise<number> {
  const shown = await openServerClient().ask("GET", pathOf(id), sessionInfo);
  return printLines(json ? JSON.stringify(shown) : toFacts(shown));
}

export async function openSession({ id, e, idleTimeout, json }: OpenArguments): Promise<number> {
  const opened = await openServerClient().ask("POST", "/v1/sessions", sessionInfo, {
    json: {
      ...(id !== undefined && { id }),
      ...(e && { env: Object.fromEntries(e) }),
      ...(idleTimeout !== undefined && { idleTimeoutMs: idleTimeout === 0 ? null : idleTimeout * 1000 }),
    },
  });
  return printLines(json ? JSON.stringify(opened) : toLine(opened.id));
}

/** Goes on after one that could not be closed; the exit code is that of the last that failed. */
export async function closeSessions(ids: readonly string[], { json }: JSONArguments): Promise<number> {
  const client = openServerClient();
  const closed: SessionInfo[] = [];
  let code: number = EXIT.ok;
  for (const id of ids) {
    try {
      closed.push(await client.ask("DELETE", pathOf(id), sessionInfo));
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
      code = fromError(error);
    }
  }
  const words = (count: number): string => `${toCount(count)} execution${count === 1 ? "" : "s"}`;
  const lines = closed.map((one) => `${toLine(one.id)} closed after ${words(one.executionCount)}`);
  await printLines(json ? JSON.stringify({ sessions: closed }) : lines.join("\n"));
  return code;
}

export async function interruptSession(id: string, { json }: JSONArguments): Promise<number> {
  const told = await openServerClient().ask("POST", `${pathOf(id)}/interrupt`, interruptAnswer);
  return printLines(json ? JSON.stringify(told) : describe(told));
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
    toCount(one.executionCount),
    one.memoryBytes === null ? "-" : toSize(one.memoryBytes),
    toAge(now - Date.parse(one.createdAt)),
    one.state === "running" ? "-" : toAge(now - Date.parse(one.lastExecutedAt ?? one.createdAt)),
  ]);
  const heading = ["ID", "STATE", "EXECUTIONS", "MEMORY", "AGE", "IDLE"];
  return toColumns([heading, ...rows], new Palette(isColoured()));
}

function toFacts(one: SessionInfo): string {
  const { variables, variableCount } = one;
  const more = (variableCount ?? 0) - variables.length;
  const names = [...variables, ...(more > 0 ? [`and ${toCount(more)} more`] : [])].join(", ");
  const facts: readonly (readonly [string, string])[] = [
    ["id", one.id],
    ["state", one.waiting === 0 ? one.state : `${one.state}, ${one.waiting} waiting`],
    ["environment", one.environment],
    ["opened", toTime(Date.parse(one.createdAt))],
    ["last executed", one.lastExecutedAt === null ? "never" : toTime(Date.parse(one.lastExecutedAt))],
    ["executions", toCount(one.executionCount)],
    ["epoch", String(one.epoch)],
    ["memory", one.memoryBytes === null ? "not known" : toSize(one.memoryBytes)],
    ["variables", variableCount === null ? "not known" : names || "none"],
  ];
  return facts.map(([name, value]) => `${name.padEnd(15)}${toLine(value, 2000)}`).join("\n");
}
