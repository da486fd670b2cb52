// `rlm logs`: lists the recorded runs and shows one of them.

import { listRuns } from "../../store/runs/recorded-runs.ts";
import type { RecordedEvent } from "../../store/runs/event-decoder.ts";
import { readRun, type RecordedRun } from "../../store/runs/run-log-reader.ts";
import type { RunSummary } from "../../store/runs/run-folder.ts";
import { cleanTerminalText } from "../../util/text/clean-terminal-text.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { printError } from "../io/print-error.ts";
import { EXIT } from "../exit-code.ts";
import { formatCost, formatCount, formatDuration, formatSize, formatTime } from "../../util/text/format.ts";
import { RunLines } from "./run-lines.ts";
import { toLine } from "../io/text-block.ts";
import { eventsAsTree } from "./tree.ts";
import { printUntilStopped } from "../io/print-until-stopped.ts";
import { outputPalette } from "../io/palette.ts";
import { terminalWidth, toTable, type Column } from "../io/table.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { findNamedRun } from "./find-run.ts";
import { reportDamaged, reportDamagedLines, wholeEvents } from "./whole-events.ts";
import { textWidth } from "../../util/text/text-width.ts";

export interface ListArguments {
  readonly number?: number;
  readonly json?: true;
}

export interface ShowArguments {
  readonly full?: true;
  readonly follow?: true;
  readonly json?: true;
}

const LISTED = 20;

export async function listLogs({ number = LISTED, json }: ListArguments): Promise<number> {
  const output = new StandardOutput();
  const runs = await listRuns();
  const shown = runs.slice(0, number === 0 ? runs.length : number);
  if (json) await output.write("stdout", `${JSON.stringify({ runs: shown, total: runs.length })}\n`);
  else await output.write("stdout", describeRuns(shown, runs.length));
  await output.flush();
  return EXIT.ok;
}

/** The exit code is 0 if the run could be shown, even if it failed. */
export async function showLog(name: string, { full, follow, json }: ShowArguments): Promise<number> {
  const run = await readRun(await findNamedRun(name));
  const code = await printUntilStopped(async (output, signal) => {
    const printing = { run, output, isFollowed: follow === true, signal };
    if (json) await printEvents(printing);
    else await printTree(printing, full === true);
  });
  reportDamagedLines(run);
  return code;
}

interface Printing {
  readonly run: RecordedRun;
  readonly output: StandardOutput;
  readonly isFollowed: boolean;
  readonly signal: AbortSignal;
}

/** One JSON object per line. */
async function printEvents({ run, output, isFollowed, signal }: Printing): Promise<void> {
  for await (const event of wholeEvents(isFollowed ? run.follow(signal) : run.events())) {
    signal.throwIfAborted();
    await output.write("stdout", `${JSON.stringify(event)}\n`);
  }
}

/** As a tree; a followed run in the order of its events. */
async function printTree({ run, output, isFollowed, signal }: Printing, isFull: boolean): Promise<void> {
  const lines = new RunLines(outputPalette(), { isFull, ...omitUndefined({ columns: process.stdout.columns }) });
  const summary = await run.summary();
  if (summary !== undefined) await output.write("stdout", toHeading(summary, isFollowed));
  for await (const recorded of isFollowed ? run.follow(signal) : eventsAsTree(run)) {
    signal.throwIfAborted();
    const event = await recorded.withoutMessages().catch((error: unknown) => reportDamaged(recorded.stored, error));
    if (event === undefined) continue;
    const isCall = event.type === "model-call-start";
    const added = isFull && isCall ? await readAdded(recorded) : [];
    const prompt = isCall && event.purpose === "query" ? recorded.lastMessageHead() : "";
    await output.write("stdout", lines.show(event, { added, prompt }));
  }
  const after = await run.summary();
  if (after?.status === "broken")
    await output.write("stdout", "broken: the process that ran it is gone, and the log has no end\n");
  if (after?.status === "running" && !isFollowed)
    await output.write("stdout", `it is still running: rlm logs show ${run.id} --follow\n`);
  if ((after?.lostEvents ?? 0) > 0) printError(`${after?.lostEvents} events of this run could not be recorded`);
}

/** None, said on stderr, if they cannot be read: the rest of the log may be whole. */
function readAdded(recorded: RecordedEvent): ReturnType<RecordedEvent["addedMessages"]> {
  return recorded.addedMessages().catch((error: Error) => {
    printError(`the messages of event ${String(recorded.stored["seq"])} are left out: ${error.message}`);
    return [];
  });
}

function toHeading(summary: RunSummary, isFollowed: boolean): string {
  const { id, started, status, wallMs, usage, model, subModel, bytes } = summary;
  const models = subModel === model ? model : `${model}, ${subModel} for what code asks`;
  const parts = [`run ${id}`, ...(isFollowed ? [] : [status]), formatTime(started), models];
  if (wallMs !== null) parts.push(formatDuration(wallMs));
  if (usage !== null) parts.push(`${formatCount(usage.tokens)} tokens`, formatCost(usage.costUsd));
  if (bytes !== null) parts.push(`log ${formatSize(bytes)}`);
  return `${wrap(parts.map(cleanTerminalText), terminalWidth())}\n`;
}

/** Parts side by side, as many as fit on a line. */
function wrap(parts: readonly string[], width: number): string {
  const [first = "", ...rest] = parts;
  const lines = [first];
  for (const part of rest) {
    const line = `${lines.at(-1)}  ${part}`;
    if (textWidth(line) <= width) lines[lines.length - 1] = line;
    else lines.push(`  ${part}`);
  }
  return lines.join("\n");
}

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "WHEN", leftOut: 4 },
  { title: "STATUS" },
  { title: "MODEL", least: 8, leftOut: 1 },
  { title: "TOKENS", leftOut: 2 },
  { title: "COST", leftOut: 3 },
  { title: "QUESTION", least: 12, leftOut: 5 },
];

function describeRuns(runs: readonly RunSummary[], total: number): string {
  if (total === 0) return "no runs are recorded yet\n";
  const rows = runs.map(({ id, started, status, model, usage, query }) => [
    id,
    formatTime(started).slice(0, "2026-01-02 03:04".length),
    status,
    toLine(model, 30),
    usage === null ? "-" : formatCount(usage.tokens),
    usage === null ? "-" : usage.costUsd === null ? "?" : formatCost(usage.costUsd),
    toLine(query, 60),
  ]);
  const rest = total > runs.length ? `${total - runs.length} more: rlm logs -n ${total}\n` : "";
  return toTable(COLUMNS, rows) + rest;
}
