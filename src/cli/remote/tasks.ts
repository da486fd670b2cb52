// `rlm tasks`: the tasks of a running server: shell commands, and executions and runs that became tasks.

import { StringDecoder } from "node:string_decoder";
import { toColumns } from "../io/columns.ts";
import { ReconnectBackoff, resumeEvents } from "../../client/resume.ts";
import { formatCount, formatDuration, formatSize, formatTime } from "../../util/text/format.ts";
import { toLine } from "../io/text-block.ts";
import { printLines } from "../io/print-lines.ts";
import { task, taskList } from "../../protocol/api/tasks.ts";
import { outputDelta } from "../../protocol/events.ts";
import type { TaskInfo } from "../../protocol/tasks.ts";
import { printUntilStopped } from "../io/print-until-stopped.ts";
import type { ServerClient } from "../../client/client.ts";
import { openServerClient } from "./address.ts";
import type { JSONArguments } from "./sessions.ts";
import type { StandardOutput } from "../io/standard-output.ts";

export interface StartArguments extends JSONArguments {
  readonly session?: string;
  readonly cwd?: string;
  readonly timeout?: number;
  readonly e?: readonly (readonly [string, string])[];
}

export interface OutputArguments {
  readonly follow?: true;
}

const POLL_MS = 500;

/** What tasks and executions have in common. */
const outputText = outputDelta.pick({ stream: true, text: true });

export async function listTasks({ json }: JSONArguments): Promise<number> {
  const list = await openServerClient().request("GET", "/v1/tasks", taskList);
  return printLines(json ? JSON.stringify(list) : toTable(list.tasks));
}

export async function showTask(id: string, { json }: JSONArguments): Promise<number> {
  const shown = await openServerClient().request("GET", pathOf(id), task);
  return printLines(json ? JSON.stringify(shown) : toFacts(shown));
}

/** Several words are a command with its arguments; a single one is a line for bash. */
export async function startTask(words: readonly string[], options: StartArguments): Promise<number> {
  const { session, cwd, timeout = 0, e, json } = options;
  const started = await openServerClient().request("POST", "/v1/tasks", task, {
    json: {
      command: words.length === 1 ? words[0] : words.map(quote).join(" "),
      sessionId: session,
      cwd,
      env: e && Object.fromEntries(e),
      timeoutMs: timeout === 0 ? undefined : timeout * 1000,
    },
  });
  return printLines(json ? JSON.stringify(started) : toLine(started.id));
}

export async function changeTask(
  what: "cancel" | "pause" | "resume",
  id: string,
  { json }: JSONArguments,
): Promise<number> {
  const changed = await openServerClient().request("POST", `${pathOf(id)}/${what}`, task);
  return printLines(json ? JSON.stringify(changed) : `${toLine(changed.id)} ${toLine(changed.status)}`);
}

/** The exit code is 0 if the output could be read, even if the task failed. */
export async function printTaskOutput(id: string, { follow }: OutputArguments): Promise<number> {
  const client = openServerClient();
  return printUntilStopped(async (output, signal) => {
    const reading = { client, id, output, signal, decoder: new StringDecoder("utf8"), offset: 0 };
    if (follow) await followEvents(reading);
    else await printBytes(reading);
  });
}

interface Reading {
  readonly client: ServerClient;
  readonly id: string;
  readonly output: StandardOutput;
  readonly signal: AbortSignal;
  readonly decoder: StringDecoder;
  /** The next byte to print. */
  offset: number;
}

/** Prints both streams in the order of writing; byte for byte unless stdout is a terminal. */
async function printBytes(reading: Reading): Promise<void> {
  const { client, id, output, signal, decoder } = reading;
  for (;;) {
    signal.throwIfAborted();
    const { offset } = reading;
    const { bytes, headers } = await client.bytes(`${pathOf(id)}/output?offset=${offset}`);
    if (bytes.length === 0) return;
    await output.write("stdout", output.isTerminal("stdout") ? decoder.write(bytes) : bytes);
    reading.offset = Math.max(offset + 1, Number(headers.get("next-offset") ?? offset + bytes.length));
  }
}

/** Prints until the task ends, and resumes after a lost connection. */
async function followEvents(reading: Reading): Promise<void> {
  const { client, id, output, signal } = reading;
  const { kind } = await client.request("GET", pathOf(id), task);
  if (kind === "run") return followRun(reading);
  const path = `${pathOf(id)}/events`;
  const { events: first } = await client.stream("GET", path, { signal });
  let wasOver = false;
  const events = resumeEvents(client, path, first, {
    isEnd: (type) => type === "task-end" || type === "execution-end",
    whyOver: async () => {
      if (wasOver) return "the task has ended, and the server does not report how";
      wasOver = await isOver(reading); // it may have ended after the stream did: the next stream has the rest
      return undefined;
    },
    signal,
  });
  for await (const { type, data } of events) {
    signal.throwIfAborted();
    if (type === "server-end") throw new Error("the server ended before the task did");
    if (type !== "output-delta") continue;
    const { stream, text } = outputText.parse(data);
    await output.write(stream, text);
  }
}

/** A run has no output events, so its output is polled. */
async function followRun(reading: Reading): Promise<void> {
  const backoff = new ReconnectBackoff(reading.client);
  for (let wasOver = false; ;) {
    try {
      await printBytes(reading);
      if (wasOver) return;
      wasOver = await isOver(reading, POLL_MS);
      backoff.reset();
    } catch (error) {
      await backoff.wait(error, reading.signal);
    }
  }
}

async function isOver({ client, id, signal }: Reading, waitMs = 0): Promise<boolean> {
  const { endedAt } = await client.request("GET", `${pathOf(id)}?waitMs=${waitMs}`, task, { signal });
  return endedAt !== null;
}

function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

/** Quotes a word for bash. */
function quote(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function toTable(tasks: readonly TaskInfo[]): string {
  if (tasks.length === 0) return "there are no tasks";
  const rows = tasks.map((one) => [
    toLine(one.id, 64),
    toLine(one.kind, 20),
    toLine(one.status, 20),
    one.exitCode === null ? "-" : String(one.exitCode),
    formatDuration(one.durationMs),
    formatSize(one.outputBytes),
    toLine(one.sessionId ?? "-", 30),
    toLine(one.command, 60),
  ]);
  const heading = ["ID", "KIND", "STATUS", "EXIT", "TIME", "OUTPUT", "SESSION", "COMMAND"];
  return toColumns([heading, ...rows]);
}

function toFacts(one: TaskInfo): string {
  const facts: readonly (readonly [string, string])[] = [
    ["id", one.id],
    ["kind", one.kind],
    ["status", one.why === null ? one.status : `${one.status}: ${one.why}`],
    ["exit code", one.exitCode === null ? "none" : String(one.exitCode)],
    ["session", one.sessionId ?? "none"],
    ["started", formatTime(Date.parse(one.startedAt))],
    ["time", formatDuration(one.durationMs)],
    ["output", `${formatCount(one.outputBytes)} bytes`],
    ...(one.background ? ([["background", "processes that it started live on"]] as const) : []),
    ["command", one.command],
  ];
  return facts.map(([name, value]) => `${name.padEnd(12)}${toLine(value, 2000)}`).join("\n");
}
