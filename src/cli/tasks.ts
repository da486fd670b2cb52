// `rlm tasks`: the shell commands of a running server, and what else goes on there under an id.

import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { isColoured, toColumns } from "./columns.ts";
import { toCount, toDuration, toSize, toTime } from "./logs/amounts.ts";
import { toLine } from "./logs/text-block.ts";
import { printLines } from "./print-lines.ts";
import { printUntilStopped } from "./print-until-stopped.ts";
import { Palette } from "./repl/palette.ts";
import { openServerClient, type ServerClient } from "./server-client.ts";
import type { JSONArguments } from "./sessions.ts";
import type { StandardOutput } from "./standard-output.ts";

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

const task = z.looseObject({
  id: z.string(),
  kind: z.string(),
  command: z.string(),
  sessionId: z.string().nullable(),
  status: z.string(),
  exitCode: z.int().nullable(),
  why: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  durationMs: z.number(),
  outputBytes: z.int(),
  background: z.boolean(),
});
type Task = z.output<typeof task>;

const taskList = z.looseObject({ tasks: z.array(task) });
const delta = z.looseObject({ stream: z.enum(["stdout", "stderr"]), text: z.string() });

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
    const reading = { client, id, output, signal, decoder: new StringDecoder("utf8") };
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
}

/** Both streams in the order in which they came; byte for byte where no terminal shows them. Resolves with where it goes on. */
async function printBytes({ client, id, output, signal, decoder }: Reading, from = 0): Promise<number> {
  for (let offset = from; ;) {
    signal.throwIfAborted();
    const { bytes, headers } = await client.bytes(`${pathOf(id)}/output?offset=${offset}`);
    if (bytes.length === 0) return offset;
    await output.write("stdout", output.isTerminal("stdout") ? decoder.write(bytes) : bytes);
    offset = Math.max(offset + 1, Number(headers.get("next-offset") ?? offset + bytes.length));
  }
}

/** What a run prints is no part of its events: it is asked for now and then. */
async function printAsItGoes(reading: Reading): Promise<void> {
  const { client, id, output, signal } = reading;
  const { kind } = await client.ask("GET", pathOf(id), task);
  if (kind === "run") {
    let offset = await printBytes(reading);
    for (let isOver = false; !isOver;) {
      const { endedAt } = await client.ask("GET", `${pathOf(id)}?waitMs=${POLL_MS}`, task, { signal });
      isOver = endedAt !== null;
      offset = await printBytes(reading, offset);
    }
    return;
  }
  const { events } = await client.stream("GET", `${pathOf(id)}/events`, { signal });
  for await (const { type, data } of events) {
    signal.throwIfAborted();
    if (type === "server-end") throw new Error("the server ended before the task did");
    if (type !== "output-delta") continue;
    const { stream, text } = delta.parse(data);
    await output.write(stream, text);
  }
}

function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

/** For bash. */
function quote(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function toTable(tasks: readonly Task[]): string {
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

function toFacts(one: Task): string {
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
