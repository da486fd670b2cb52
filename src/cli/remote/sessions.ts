// `rlm sessions`: the sessions of a running server.

import { setTimeout } from "node:timers/promises";
import { toTable, type Column } from "../io/table.ts";
import { printError } from "../io/print-error.ts";
import { EXIT, fromError } from "../exit-code.ts";
import { formatAge, formatCount, formatSize, formatTime } from "../../util/text/format.ts";
import { toLine } from "../io/text-block.ts";
import { printLines } from "../io/print-lines.ts";
import type { Runtime } from "../../api/runtime.ts";
import { ExecutionNotFoundError, ServerConnectionError } from "../../errors.ts";
import type { ExecutionId } from "../../protocol/ids.ts";
import { describeCapabilities } from "../../protocol/capabilities.ts";
import type { InterruptAnswer, SessionInfo } from "../../protocol/sessions.ts";
import { readPages } from "./read-pages.ts";
import { withServer } from "./with-server.ts";

export interface JSONArguments {
  readonly json?: true;
}

export interface OpenArguments extends JSONArguments {
  readonly id?: string;
  readonly e?: readonly (readonly [string, string])[];
  readonly idleTimeout?: number;
}

/** How long an interrupted execution may take to end: the grace, the end of its worker, and the way here. */
const END_MS = 5_000;

export async function listSessions({ json }: JSONArguments): Promise<number> {
  const sessions = await withServer((runtime) => readPages((page) => runtime.sessions.list(page)));
  return printLines(json ? JSON.stringify({ sessions }) : describeSessions(sessions, Date.now()));
}

export async function showSession(id: string, { json }: JSONArguments): Promise<number> {
  const shown = await withServer(async (runtime) => (await runtime.sessions.get(id)).info());
  return printLines(json ? JSON.stringify(shown) : toFacts(shown));
}

export async function openSession({ id, e, idleTimeout, json }: OpenArguments): Promise<number> {
  const line = await withServer(async (runtime) => {
    const opened = await runtime.openSession({
      id,
      env: e && Object.fromEntries(e),
      idleTimeoutMs: idleTimeout === 0 ? null : idleTimeout && idleTimeout * 1000,
    });
    return json ? JSON.stringify(await opened.info()) : toLine(opened.id);
  });
  return printLines(line);
}

/** Continues after a failure; the exit code is that of the last one. */
export async function closeSessions(ids: readonly string[], { json }: JSONArguments): Promise<number> {
  const closed: SessionInfo[] = [];
  let code: number = EXIT.ok;
  await withServer(async (runtime) => {
    for (const id of ids) {
      try {
        closed.push(await (await runtime.sessions.get(id)).close());
      } catch (error) {
        if (error instanceof ServerConnectionError) throw error; // it would be the same for the others
        printError(error);
        code = fromError(error);
      }
    }
  });
  const lines = closed.map((one) => `${toLine(one.id)} closed after ${formatCount(one.executionCount, "execution")}`);
  await printLines(json ? JSON.stringify({ sessions: closed }) : lines.join("\n"));
  return code;
}

export async function interruptSession(id: string, { json }: JSONArguments): Promise<number> {
  const outcome = await withServer(async (runtime): Promise<InterruptAnswer> => {
    const session = await runtime.sessions.get(id);
    const interrupted = await session.interrupt();
    return { interrupted, ...(await outcomeOf(runtime, interrupted)) };
  });
  return printLines(json ? JSON.stringify(outcome) : describe(outcome));
}

/** Whether the interrupted execution has ended, and what became of the namespace. */
async function outcomeOf(
  runtime: Runtime,
  interrupted: ExecutionId | null,
): Promise<Pick<InterruptAnswer, "hasEnded" | "state">> {
  if (interrupted === null) return { hasEnded: true, state: null };
  const notYet = setTimeout(END_MS, { hasEnded: false, state: null }, { ref: false });
  const ended = async (): Promise<Pick<InterruptAnswer, "hasEnded" | "state">> => {
    try {
      return { hasEnded: true, state: (await runtime.executions.get(interrupted)).state };
    } catch (error) {
      if (error instanceof ExecutionNotFoundError) return { hasEnded: true, state: null };
      throw error;
    }
  };
  return Promise.race([ended(), notYet]);
}

function describe({ interrupted: execution, hasEnded, state }: InterruptAnswer): string {
  if (execution === null) return "nothing runs in it";
  if (!hasEnded) return `${toLine(execution)} has not stopped yet: its worker is about to be ended`;
  return `${toLine(execution)} interrupted${state === null ? "" : `, state ${toLine(state)}`}`;
}

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "STATE" },
  { title: "ENVIRONMENT", leftOut: 4 },
  { title: "EXECUTIONS", leftOut: 2 },
  { title: "MEMORY", leftOut: 3 },
  { title: "AGE", leftOut: 1 },
  { title: "IDLE", leftOut: 5 },
];

function describeSessions(sessions: readonly SessionInfo[], now: number): string {
  if (sessions.length === 0) return "no sessions are open";
  const rows = sessions.map((one) => [
    toLine(one.id, 64),
    toLine(one.state, 20),
    toLine(toPlace(one), 40),
    formatCount(one.executionCount),
    one.memoryBytes === null ? "-" : formatSize(one.memoryBytes),
    formatAge(now - Date.parse(one.createdAt)),
    one.state === "running" ? "-" : formatAge(now - Date.parse(one.lastExecutedAt ?? one.createdAt)),
  ]);
  return toTable(COLUMNS, rows);
}

/** As in `wasm, seat-belt`. */
function toPlace({ environment, tier }: SessionInfo): string {
  return tier === null ? environment : `${environment}, ${tier}`;
}

function toFacts(one: SessionInfo): string {
  const { variables, variableCount } = one;
  const more = (variableCount ?? 0) - variables.length;
  const names = [...variables, ...(more > 0 ? [`and ${formatCount(more)} more`] : [])].join(", ");
  const facts: readonly (readonly [string, string])[] = [
    ["id", one.id],
    ["state", one.waiting === 0 ? one.state : `${one.state}, ${one.waiting} waiting`],
    ["environment", toPlace(one)],
    ["capabilities", describeCapabilities(one.capabilities)],
    ["opened", formatTime(Date.parse(one.createdAt))],
    ["last executed", one.lastExecutedAt === null ? "never" : formatTime(Date.parse(one.lastExecutedAt))],
    ["executions", formatCount(one.executionCount)],
    ["epoch", String(one.epoch)],
    ["memory", one.memoryBytes === null ? "not known" : formatSize(one.memoryBytes)],
    ["variables", variableCount === null ? "not known" : names || "none"],
  ];
  return facts.map(([name, value]) => `${name.padEnd(15)}${toLine(value, 2000)}`).join("\n");
}
