// `rlm logs`: lists the recorded runs and shows one of them.

import { findRun, listRuns } from "../../store/runs/recorded-runs.ts";
import { readRun, type RecordedRun } from "../../store/runs/run-log-reader.ts";
import type { RunSummary } from "../../store/runs/run-folder.ts";
import { cleanTerminalText } from "../../util/text/clean-terminal-text.ts";
import { printError } from "../io/print-error.ts";
import { EXIT } from "../exit-code.ts";
import { formatCost, formatCount, formatDuration, formatSize, formatTime } from "../../util/text/format.ts";
import { RunLines } from "./run-lines.ts";
import { toLine } from "../io/text-block.ts";
import { eventsAsTree } from "./tree.ts";
import { printUntilStopped } from "../io/print-until-stopped.ts";
import { outputPalette } from "../io/palette.ts";
import { toColumns } from "../io/columns.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { UsageError } from "../options/usage-error.ts";

export interface ListArguments {
  readonly number: number;
  readonly json?: true;
}

export interface ShowArguments {
  readonly full?: true;
  readonly follow?: true;
  readonly json?: true;
}

export async function listLogs({ number, json }: ListArguments): Promise<number> {
  const output = new StandardOutput();
  const runs = await listRuns();
  const shown = runs.slice(0, number === 0 ? runs.length : number);
  if (json) await output.write("stdout", `${JSON.stringify({ runs: shown, total: runs.length })}\n`);
  else await output.write("stdout", toTable(shown, runs.length));
  await output.flush();
  return EXIT.ok;
}

/** The exit code is 0 if the run could be shown, even if it failed. */
export async function showLog(prefix: string, { full, follow, json }: ShowArguments): Promise<number> {
  const run = await readRun(await find(prefix));
  const code = await printUntilStopped(async (output, signal) => {
    const printing = { run, output, isFollowed: follow === true, signal };
    if (json) await printEvents(printing);
    else await printTree(printing, full === true);
  });
  if (run.damagedLines > 0) printError(`${run.damagedLines} lines of the log are damaged and left out`);
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
  for await (const recorded of isFollowed ? run.follow(signal) : run.events()) {
    signal.throwIfAborted();
    const event = await recorded.whole().catch((error: unknown) => reportDamaged(recorded.stored, error));
    if (event !== undefined) await output.write("stdout", `${JSON.stringify(event)}\n`);
  }
}

/** As a tree; a followed run in the order of its events. */
async function printTree({ run, output, isFollowed, signal }: Printing, isFull: boolean): Promise<void> {
  const lines = new RunLines(outputPalette(), { isFull });
  const summary = await run.summary();
  if (summary !== undefined) await output.write("stdout", toHeading(summary, isFollowed));
  for await (const recorded of isFollowed ? run.follow(signal) : eventsAsTree(run)) {
    signal.throwIfAborted();
    const event = await recorded.withoutMessages().catch((error: unknown) => reportDamaged(recorded.stored, error));
    if (event === undefined) continue;
    const added = isFull && event.type === "model-call-start" ? await recorded.addedMessages() : [];
    await output.write("stdout", lines.show(event, added));
  }
  const after = await run.summary();
  if (after?.status === "broken")
    await output.write("stdout", "broken: the process that ran it is gone, and the log has no end\n");
  if (after?.status === "running" && !isFollowed)
    await output.write("stdout", `it is still running: rlm logs show ${run.id} --follow\n`);
  if ((after?.lostEvents ?? 0) > 0) printError(`${after?.lostEvents} events of this run could not be recorded`);
}

function reportDamaged(stored: Readonly<Record<string, unknown>>, error: unknown): undefined {
  printError(`event ${String(stored["seq"])} is left out: ${error instanceof Error ? error.message : String(error)}`);
}

async function find(prefix: string): Promise<string> {
  try {
    return await findRun(prefix);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. Run 'rlm logs' to see them`);
  }
}

function toHeading(summary: RunSummary, isFollowed: boolean): string {
  const { id, started, status, wallMs, usage, model, subModel, bytes } = summary;
  const models = subModel === model ? model : `${model}, ${subModel} for what code asks`;
  const parts = [`run ${id}`, ...(isFollowed ? [] : [status]), formatTime(started), models];
  if (wallMs !== null) parts.push(formatDuration(wallMs));
  if (usage !== null) parts.push(`${formatCount(usage.tokens)} tokens`, formatCost(usage.costUsd));
  if (bytes !== null) parts.push(`log ${formatSize(bytes)}`);
  return `${cleanTerminalText(parts.join("  "))}\n`;
}

function toTable(runs: readonly RunSummary[], total: number): string {
  if (total === 0) return "no runs are recorded yet\n";
  const rows = [
    ["ID", "WHEN", "STATUS", "MODEL", "TOKENS", "COST", "QUESTION"],
    ...runs.map(({ id, started, status, model, usage, query }) => [
      id,
      formatTime(started),
      status,
      toLine(model, 30),
      usage === null ? "-" : formatCount(usage.tokens),
      usage === null ? "-" : formatCost(usage.costUsd),
      toLine(query, 60),
    ]),
  ];
  const rest = total > runs.length ? `${total - runs.length} more: rlm logs -n ${total}\n` : "";
  return toColumns(rows) + rest;
}
