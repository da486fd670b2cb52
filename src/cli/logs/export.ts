// `rlm logs export`: a whole run as one file, an event with its full texts per line.
//
// The file appears complete or not at all. What is at its path is replaced only with --force.

import { lstatSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { AtomicFile } from "../../store/atomic-file.ts";
import { readRun, type RecordedRun } from "../../store/runs/run-log-reader.ts";
import { formatCount, formatSize } from "../../util/text/format.ts";
import { describeWriteProblem, isFolder } from "../../util/files/file-problem.ts";
import { EXIT } from "../exit-code.ts";
import { printLines } from "../io/print-lines.ts";
import { printUntilStopped } from "../io/print-until-stopped.ts";
import { UsageError } from "../options/usage-error.ts";
import { findNamedRun } from "./find-run.ts";
import { reportIncomplete, wholeEvents } from "./whole-events.ts";

export interface ExportArguments {
  readonly output?: string;
  readonly force?: true;
}

const STANDARD_OUTPUT = "-";

export async function exportLog(name: string, { output, force }: ExportArguments): Promise<number> {
  const run = await readRun(await findNamedRun(name));
  const code = output === STANDARD_OUTPUT ? await print(run) : await write(run, output ?? `${run.id}.jsonl`, force);
  await reportIncomplete(run);
  return code;
}

function print(run: RecordedRun): Promise<number> {
  return printUntilStopped(async (output, signal) => {
    for await (const line of toLines(run, signal)) await output.write("stdout", line);
  });
}

async function write(run: RecordedRun, given: string, force: true | undefined): Promise<number> {
  if (given === "") throw new UsageError("-o needs a path, or - for standard output");
  checkFree(given, force);
  const stop = new AbortController();
  const cancel = (): void => stop.abort();
  process.once("SIGINT", cancel).once("SIGTERM", cancel);
  const file = openFile(given);
  let [events, bytes] = [0, 0];
  try {
    for await (const line of toLines(run, stop.signal)) {
      const data = Buffer.from(line);
      for (let at = 0; at < data.length;) at += writeSync(file.fd, data, at);
      events += 1;
      bytes += data.length;
    }
    checkFree(given, force); // it may have appeared meanwhile
    await file.commit();
  } catch (error) {
    if (stop.signal.aborted) return EXIT.cancelled;
    throw error instanceof UsageError ? error : cannotWrite(given, error);
  } finally {
    file.discard();
    process.off("SIGINT", cancel).off("SIGTERM", cancel);
  }
  return printLines(`${given}: ${formatCount(events, "event")}, ${formatSize(bytes)}`);
}

async function* toLines(run: RecordedRun, signal: AbortSignal): AsyncGenerator<string> {
  for await (const event of wholeEvents(run.events())) {
    signal.throwIfAborted();
    yield `${JSON.stringify(event)}\n`;
  }
}

function openFile(given: string): AtomicFile {
  try {
    return new AtomicFile(resolve(given));
  } catch (error) {
    throw cannotWrite(given, error);
  }
}

function checkFree(given: string, force: true | undefined): void {
  const path = resolve(given);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return; // a link that leads nowhere is there, too
  if (isFolder(path)) throw new UsageError(`cannot write '${given}': it is a folder. Name a file in it with -o`);
  if (force !== true)
    throw new UsageError(`cannot write '${given}': it exists. Choose another with -o, or replace it with --force`);
}

function cannotWrite(given: string, error: unknown): UsageError {
  return new UsageError(`cannot write '${given}': ${describeWriteProblem(given, error)}`);
}
