// The log of one command: its start and its end, and what happens in its runtime. Silent unless a level or a file is asked for.
//
// It never contains output or values of variables, and code and questions only at level `debug`.

import type { Log } from "../../server/observability/log.ts";
import type { Runtime } from "../../runtime.ts";
import type { LogArguments } from "./log-options.ts";

/** What commands use of it. */
export interface CommandLog extends Pick<Log, "write"> {
  /** Logs sessions, executions and processes of the runtime from now on. */
  observe(runtime: Runtime): void;
  end(): Promise<void>;
}

/** Options of commands that write to the log. */
export interface LoggedArguments {
  readonly log: CommandLog;
}

const SILENT: CommandLog = { write: () => {}, observe: () => {}, end: async () => {} };

/** Throws a UsageError if the file cannot be written. */
export async function openCommandLog({ logLevel, logFormat, logFile }: LogArguments): Promise<CommandLog> {
  if (logLevel === undefined && logFile === undefined) return SILENT;
  const [{ openLogAt }, { logRuntime }] = await Promise.all([import("./open-log.ts"), import("./log-runtime.ts")]);
  const format = logFormat ?? (logFile === undefined && process.stderr.isTTY ? "text" : "json");
  const log = openLogAt(logFile, { level: logLevel ?? "info", format });
  return {
    write: (...line) => log.write(...line),
    observe: (runtime) => logRuntime(runtime, log),
    end: () => log.end(),
  };
}
