// The action of a command: runs it with its options and those of its parent command, and ends with its exit code.

import type { Command } from "commander";
import { fromError } from "../exit-code.ts";
import { openCommandLog, type LoggedArguments } from "../log/command-log.ts";
import { withLogVariables, type LogArguments } from "../log/log-options.ts";

type Run<Args extends unknown[]> = (...args: Args) => number | Promise<number>;
type Action = (...args: unknown[]) => Promise<void>;

/** Exits at once. For commands that flush their output: connections, pools and unread output would delay the exit. */
export function exitWith<Args extends unknown[]>(run: Run<Args>): Action {
  return async (...args) => process.exit(await callLogged(run, args));
}

/** Exits when everything is written. */
export function endWith<Args extends unknown[]>(run: Run<Args>): Action {
  return async (...args) => {
    process.exitCode = await callLogged(run, args);
  };
}

/** As `exitWith`, for a server that opens its log itself. */
export function exitWithOwnLog<Args extends unknown[]>(run: Run<Args>): Action {
  return async (...args) => process.exit(await call(run, args, withLogVariables(optionsOf(args), process.env)));
}

/** The command gets its log as an option. */
async function callLogged<Args extends unknown[]>(run: Run<Args>, args: readonly unknown[]): Promise<number> {
  const log = await openCommandLog(withLogVariables(optionsOf(args), process.env));
  const started = performance.now();
  const end = (exitCode: number, error?: string): void => {
    const durationMs = Math.round(performance.now() - started);
    log.write(error === undefined ? "info" : "error", "command-end", { exitCode, durationMs, error });
  };
  try {
    log.write("info", "command-start", { command: nameOf(args.at(-1) as Command), pid: process.pid });
    const exitCode = await call(run, args, { log } satisfies LoggedArguments);
    end(exitCode);
    return exitCode;
  } catch (error) {
    end(fromError(error), error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    await log.end();
  }
}

async function call<Args extends unknown[]>(run: Run<Args>, args: readonly unknown[], more: object): Promise<number> {
  return run(...([...args.slice(0, -2), { ...optionsOf(args), ...more }] as Args));
}

/** Commander passes the arguments, the options and the command. */
function optionsOf(args: readonly unknown[]): LogArguments {
  return (args.at(-1) as Command).optsWithGlobals();
}

/** `sessions open`. */
function nameOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(" ");
}
