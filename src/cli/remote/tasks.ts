// `rlm tasks`: the shell commands of a running server, and what else goes on there under an id.

import { StringDecoder } from "node:string_decoder";
import { isColoured, toColumns } from "../io/columns.ts";
import { lastingEvents } from "../../client/resume.ts";
import { Losses } from "../../client/reconnect-backoff.ts";
import { toCount, toDuration, toSize, toTime } from "../logs/format.ts";
import { toLine } from "../logs/text-block.ts";
import { printLines } from "../io/print-lines.ts";
import { task, taskList } from "../../protocol/api/tasks.ts";
import { outputDelta } from "../../protocol/events.ts";
import type { TaskInfo } from "../../protocol/tasks.ts";
import { printUntilStopped } from "../io/print-until-stopped.ts";
import { Palette } from "../repl/display/palette.ts";
import { openServerClient, type ServerClient } from "../../client/client.ts";
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
  const list = await openServerClient().ask("GET", "/v1/tasks", taskList);
  return printLines(json ? JSON.stringify(list) : toTable(list.tasks));
}

export async function showTask(id: string, { json }: JSONArguments): Promise<number> {
  const shown = await openServerClient().ask("GET", pathOf(id), task);
  return printLines(json ? JSON.stringify(shown) : toFacts(shown));
}

/** Several words are a command and its arguments; one is a line for bash. */
export async function startTask(words: readonly string[], options: StartArguments): Promise<number> {
  const { session, cwd, timeout = 0, e, json } = options;
  const started = await openServerClient().ask("POST", "/v1/tasks", task, {
    json: {
      command: words.length === 1 ? words[0] : words.map(quote).join(" "),
      ...(session !== undefined && { sessionId: session }),
      ...(cwd !== undefined && { cwd }),
      ...(e && { env: Object.fromEntries(e) }),
      ...(timeout !== 0 && { timeoutMs: timeout * 1000 }),
    },
  });
  return printLines(json ? JSON.stringify(started) : toLine(started.id));
}

export async function changeTask(
  what: "cancel" | "pause" | "resume",
  id: string,
  { json }: JSONArguments,
): Promise<number> {
  const changed = await openServerClient().ask("POST", `${pathOf(id)}/${what}`, task);
  return printLines(json ? JSON.stringify(changed) : `${toLine(changed.id)} ${toLine(changed.status)}`);
}

/** Exit code 0 when it could be read, whatever became of the task. */
export async function printTaskOutput(id: string, { follow }: OutputArguments): Promise<number> {
  const client = openServerClient();
  return printUntilStopped(async (output, signal) => {
    const reading = { client, id, output, signal, decoder: new StringDecoder("utf8"), offset: 0 };
    if (follow) await printAsItGoes(reading);
    else await printBytes(reading);
  });
}

interface Reading {
  readonly client: ServerClient;
  readonly id: string;
  readonly output: StandardOutput;
  readonly signal: AbortSignal;
  readonly decoder: StringDecoder;
  /** Where the bytes go on. */
  offset: number;
}

/** Both streams in the order in which they came; byte for byte where no terminal shows them. */
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

/** Goes on where it was when the connection is lost. */
async function printAsItGoes(reading: Reading): Promise<void> {
  const { client, id, output, signal } = reading;
  const { kind } = await client.ask("GET", pathOf(id), task);
  if (kind === "run") return printRun(reading);
  const path = `${pathOf(id)}/events`;
  const { events: first } = await client.stream("GET", path, { signal });
  let wasOver = false;
  const events = lastingEvents(client, path, first, {
    isEnd: (type) => type === "task-end" || type === "execution-end",
    whyOver: async () => {
      if (wasOver) return "the task has ended, and the server does not tell how";
      wasOver = await isOver(reading); // perhaps after the stream did: the next one has the rest
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

/** What a run prints is no part of its events: it is asked for now and then. */
async function printRun(reading: Reading): Promise<void> {
  const losses = new Losses();
  for (let wasOver = false; ;) {
    try {
      await printBytes(reading);
      if (wasOver) return;
      wasOver = await isOver(reading, POLL_MS);
      losses.forget();
    } catch (error) {
      await losses.wait(error, reading.signal);
    }
  }
}

async function isOver({ client, id, signal }: Reading, waitMs = 0): Promise<boolean> {
  const { endedAt } = await client.ask("GET", `${pathOf(id)}?waitMs=${waitMs}`, task, { signal });
  return endedAt !== null;
}

function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

/** For bash. */
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
    toDuration(one.durationMs),
    toSize(one.outputBytes),
    toLine(one.sessionId ?? "-", 30),
    toLine(one.command, 60),
  ]);
  const heading = ["ID", "KIND", "STATUS", "EXIT", "TIME", "OUTPUT", "SESSION", "COMMAND"];
  return toColumns([heading, ...rows], new Palette(isColoured()));
}

function toFacts(one: TaskInfo): string {
  const facts: readonly (readonly [string, string])[] = [
    ["id", one.id],
    ["kind", one.kind],
    ["status", one.why === null ? one.status : `${one.status}: ${one.why}`],
    ["exit code", one.exitCode === null ? "none" : String(one.exitCode)],
    ["session", one.sessionId ?? "none"],
    ["started", toTime(Date.parse(one.startedAt))],
    ["time", toDuration(one.durationMs)],
    ["output", `${toCount(one.outputBytes)} bytes`],
    ...(one.background ? ([["background", "processes that it started live on"]] as const) : []),
    ["command", one.command],
  ];
  return facts.map(([name, value]) => `${name.padEnd(12)}${toLine(value, 2000)}`).join("\n");
}
