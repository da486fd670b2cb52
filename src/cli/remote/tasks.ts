// `rlm tasks`: the tasks of a running server: shell commands, and executions and runs that became tasks.

import { StringDecoder } from "node:string_decoder";
import type { OutputSlice } from "../../api/execution.ts";
import type { AnyTask, Task } from "../../api/task.ts";
import type { TaskView } from "../../protocol/api/tasks.ts";
import type { TaskInfo } from "../../protocol/tasks.ts";
import { formatCount, formatDuration, formatSize, formatTime } from "../../util/text/format.ts";
import { printExecution } from "../exec/print-execution.ts";
import { printLines } from "../io/print-lines.ts";
import { printUntilStopped } from "../io/print-until-stopped.ts";
import type { StandardOutput } from "../io/standard-output.ts";
import { toTable, type Column } from "../io/table.ts";
import { toLine } from "../io/text-block.ts";
import { readPages } from "./read-pages.ts";
import type { JSONArguments } from "./sessions.ts";
import { withServer } from "./with-server.ts";

export interface StartArguments extends JSONArguments {
  readonly session?: string;
  readonly cwd?: string;
  readonly timeout?: number;
  readonly e?: readonly (readonly [string, string])[];
}

export interface OutputArguments {
  readonly follow?: true;
}

/** How long a run may take to print more before its output is asked for again. */
const POLL_MS = 500;

export async function listTasks({ json }: JSONArguments): Promise<number> {
  const tasks = await withServer((runtime) => readPages((page) => runtime.tasks.list(page)));
  return printLines(json ? JSON.stringify({ tasks }) : describeTasks(tasks));
}

export async function showTask(id: string, { json }: JSONArguments): Promise<number> {
  const shown = await withServer((runtime) => view(runtime.tasks.get(id)));
  return printLines(json ? JSON.stringify(shown) : toFacts(shown));
}

/** Several words are a command with its arguments; a single one is a line for bash. */
export async function startTask(words: readonly string[], options: StartArguments): Promise<number> {
  const { session, cwd, timeout = 0, e, json } = options;
  const [only = ""] = words;
  const started = await withServer((runtime) =>
    view(
      runtime.shell(words.length === 1 ? only : words.map(quote).join(" "), {
        session,
        cwd,
        env: e && Object.fromEntries(e),
        timeoutMs: timeout === 0 ? undefined : timeout * 1000,
      }),
    ),
  );
  return printLines(json ? JSON.stringify(started) : toLine(started.id));
}

export async function changeTask(
  what: "cancel" | "pause" | "resume",
  id: string,
  { json }: JSONArguments,
): Promise<number> {
  const changed = await withServer(async (runtime) => {
    const task = runtime.tasks.get(id);
    await task[what]();
    return view(task);
  });
  return printLines(json ? JSON.stringify(changed) : `${toLine(changed.id)} ${toLine(changed.status)}`);
}

/** As the server shows it: with its result once it has ended. */
async function view(task: Pick<Task, "info" | "then">): Promise<TaskView> {
  const info = await task.info();
  return { ...info, result: info.endedAt === null ? null : await task };
}

/** The exit code is 0 if the output could be read, even if the task failed. */
export async function printTaskOutput(id: string, { follow }: OutputArguments): Promise<number> {
  return withServer((runtime) =>
    printUntilStopped(async (output, signal) => {
      signal.addEventListener("abort", () => void runtime.close(), { once: true });
      const reading = { task: runtime.tasks.get(id), output, decoder: new StringDecoder("utf8"), offset: 0 };
      if (!follow) await printBytes(reading);
      else if ((await reading.task.info()).kind === "run") await followRun(reading);
      else await printExecution(reading.task, (stream, offset) => reading.task.output({ stream, offset }), output);
    }),
  );
}

interface Reading {
  readonly task: AnyTask;
  readonly output: StandardOutput;
  readonly decoder: StringDecoder;
  /** The next byte to print. */
  offset: number;
}

/** Prints both streams in the order of writing; byte for byte unless stdout is a terminal. */
async function printBytes(reading: Reading): Promise<void> {
  const { task, output, decoder } = reading;
  for (;;) {
    const { bytes, nextOffset }: OutputSlice = await task.output({ offset: reading.offset });
    if (bytes.length === 0) return;
    await output.write("stdout", output.isTerminal("stdout") ? decoder.write(Buffer.from(bytes)) : bytes);
    reading.offset = Math.max(reading.offset + 1, nextOffset);
  }
}

/** A run has no output events, so its output is polled. */
async function followRun(reading: Reading): Promise<void> {
  for (let wasOver = false; ;) {
    await printBytes(reading);
    if (wasOver) return;
    wasOver = await reading.task.wait(POLL_MS);
  }
}

/** Quotes a word for bash. */
function quote(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "KIND", leftOut: 2 },
  { title: "STATUS" },
  { title: "EXIT", leftOut: 4 },
  { title: "TIME", leftOut: 5 },
  { title: "OUTPUT", leftOut: 1 },
  { title: "SESSION", leftOut: 3 },
  { title: "COMMAND", least: 12, leftOut: 6 },
];

function describeTasks(tasks: readonly TaskInfo[]): string {
  if (tasks.length === 0) return "there are no tasks";
  const rows = tasks.map((one) => [
    toLine(one.id, 64),
    toLine(one.kind, 20),
    toLine(one.status, 20),
    one.exitCode === null ? "-" : String(one.exitCode),
    formatDuration(one.durationMs),
    formatSize(one.outputBytes),
    toLine(one.sessionId ?? "-", 64),
    toLine(one.command, 60),
  ]);
  return toTable(COLUMNS, rows);
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
