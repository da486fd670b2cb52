// The arguments of shell commands, checked before anything is started or sent. Each throws a TypeError or RangeError.

import { isWellFormed } from "../../protocol/worker/is-well-formed.ts";
import type { ShellOptions } from "../task.ts";
import { checkEnv, checkSignal, checkTimes, checkWorkId } from "./check-options.ts";

const MAX_COMMAND_BYTES = 1024 * 1024;

/** Everything that can be checked before a session is involved, except the names of the options. */
export function checkShell(command: unknown, options: ShellOptions): void {
  checkCommand(command, options);
  checkEnv(options.env);
  checkSignal(options.signal);
}

export function checkCommand(command: unknown, { id, cwd, timeoutMs, stdin = "none" }: ShellOptions): void {
  checkWorkId(id);
  if (typeof command !== "string") throw new TypeError(`Cannot run a ${typeof command}: the command must be a string`);
  if (command.trim() === "") throw new RangeError("Cannot run an empty command");
  if (command.includes("\0")) throw new TypeError("Cannot run the command: it contains a NUL character");
  if (!isWellFormed(command)) throw new TypeError("Cannot run the command: it contains half of a character");
  if (new TextEncoder().encode(command).length > MAX_COMMAND_BYTES) {
    throw new RangeError("Cannot run the command: it is longer than 1 MiB. Write it to a file and run that");
  }
  if (cwd !== undefined && (typeof cwd !== "string" || cwd.includes("\0") || !isWellFormed(cwd))) {
    throw new TypeError("Cannot run the command: cwd must be a path of whole characters without NUL");
  }
  checkTimes({ timeoutMs });
  if (stdin === "none" || stdin === "open") return;
  if (typeof stdin !== "object" || stdin === null)
    throw new TypeError("stdin must be 'none', 'open', { text } or { bytes }");
  checkInput("text" in stdin ? stdin.text : stdin.bytes);
}

/** What is written to a command. */
export function checkInput(data: unknown): void {
  if (typeof data === "string" || data instanceof Uint8Array) return;
  throw new TypeError(`Cannot use a ${typeof data} as input: give a string or a Uint8Array`);
}
