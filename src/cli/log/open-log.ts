// Opens the log of a server: standard error, or a file that only its user can read.

import { closeSync, fstatSync, openSync, constants } from "node:fs";
import { LogFile } from "../../server/observability/log-file.ts";
import { openLog, type Log, type LogOptions } from "../../server/observability/log.ts";
import { describeWriteProblem } from "../../util/files/file-problem.ts";
import { printError } from "../io/print-error.ts";
import { UsageError } from "../options/usage-error.ts";

const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = constants;

/** Throws a UsageError if the file cannot be written. */
export function openLogAt(path: string | undefined, options: Omit<LogOptions, "sink">): Log {
  if (path === undefined) return openLog({ ...options, sink: process.stderr });
  const onFail = (error: Error): void =>
    printError(
      `cannot write the log to '${path}', lines are dropped until it can be written again: ${describeWriteProblem(path, error)}`,
    );
  return openLog({ ...options, sink: new LogFile(openAt(path), { onFail }) });
}

/** Does not block, as opening a named pipe would. */
function openAt(path: string): number {
  let fd: number | undefined;
  try {
    fd = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
    if (fstatSync(fd).isFile()) return fd;
  } catch (error) {
    throw new UsageError(`cannot write the log to '${path}': ${describeWriteProblem(path, error)}`);
  }
  closeSync(fd);
  throw new UsageError(`cannot write the log to '${path}': it is not a file`);
}
