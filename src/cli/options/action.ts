// The action of a command: runs it with its options and those of its parent command, and ends with its exit code.

import type { Command } from "commander";

type Run<Args extends unknown[]> = (...args: Args) => number | Promise<number>;
type Action = (...args: unknown[]) => Promise<void>;

/** Exits at once. For commands that flush their output: connections, pools and unread output would delay the exit. */
export function exitWith<Args extends unknown[]>(run: Run<Args>): Action {
  return async (...args) => process.exit(await call(run, args));
}

/** Exits when everything is written. */
export function endWith<Args extends unknown[]>(run: Run<Args>): Action {
  return async (...args) => {
    process.exitCode = await call(run, args);
  };
}

/** Commander passes the arguments, the options and the command. */
async function call<Args extends unknown[]>(run: Run<Args>, args: readonly unknown[]): Promise<number> {
  const command = args.at(-1) as Command;
  return run(...([...args.slice(0, -2), command.optsWithGlobals()] as Args));
}
