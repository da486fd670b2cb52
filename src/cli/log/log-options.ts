// --log-level, --log-format and --log-file: options of every command, before or after its name.

import { Option, type Command } from "commander";
import type { LogFormat, LogLevel } from "../../server/observability/log.ts";
import { UsageError } from "../options/usage-error.ts";

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];
const FORMATS: readonly LogFormat[] = ["json", "text"];

/** The parsed options of the command line. */
export interface LogArguments {
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
  readonly logFile?: string;
}

export function addLogOptions(program: Command): void {
  program
    .addOption(new Option("--log-level <level>", "write a log, to standard error unless --log-file").choices(LEVELS))
    .addOption(new Option("--log-format <format>", "default: text on a terminal, else json").choices(FORMATS))
    .option("--log-file <path>", "append the log to this file");
}

/** The names of the options, for the help of every command. */
export function isLogOption({ long }: Option): boolean {
  return long?.startsWith("--log-") === true;
}

/** Variables count where a flag is absent; an empty one is absent. Those of `.env` do not count. Throws a UsageError. */
export function withLogVariables(flags: LogArguments, env: Readonly<Record<string, string | undefined>>): LogArguments {
  const level = flags.logLevel ?? choose("RLM_LOG_LEVEL", LEVELS, env);
  const format = flags.logFormat ?? choose("RLM_LOG_FORMAT", FORMATS, env);
  const file = flags.logFile ?? (env["RLM_LOG_FILE"] || undefined);
  return {
    ...(level !== undefined && { logLevel: level }),
    ...(format !== undefined && { logFormat: format }),
    ...(file !== undefined && { logFile: file }),
  };
}

function choose<Value extends string>(
  variable: string,
  choices: readonly Value[],
  env: Readonly<Record<string, string | undefined>>,
): Value | undefined {
  const text = env[variable] || undefined;
  const chosen = choices.find((one) => one === text);
  if (text !== undefined && chosen === undefined)
    throw new UsageError(`${variable} must be one of ${choices.join(", ")}`);
  return chosen;
}
