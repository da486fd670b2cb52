// Options of one shell command, checked where they enter.

import { isWellFormed } from "../protocol/worker/host-messages.ts";
import { checkDuration } from "../util/check-number.ts";

export interface ShellOptions {
  /** Where it starts, relative to the session's working directory. Default: there. */
  readonly cwd?: string;
  /** Environment variables for this command only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Running time without pauses. Null or Infinity: no limit, which is the default. */
  readonly timeoutMs?: number | null;
  /** Standard input: none, `write()` while it runs (`"open"`), or fixed content. Default: `"none"`. */
  readonly stdin?: "none" | "open" | { readonly text: string } | { readonly bytes: Uint8Array };
  /** Aborting cancels it. */
  readonly signal?: AbortSignal;
}

/** The session of commands that do not name one. */
export const DEFAULT_SESSION = "default";

const MAX_COMMAND_BYTES = 1024 * 1024;

export function checkCommand(command: unknown, { cwd, timeoutMs, stdin = "none" }: ShellOptions): void {
  if (typeof command !== "string") throw new TypeError(`Cannot run a ${typeof command}: the command must be a string`);
  if (command.trim() === "") throw new RangeError("Cannot run an empty command");
  if (command.includes("\0")) throw new TypeError("Cannot run the command: it contains a NUL character");
  if (!isWellFormed(command)) throw new TypeError("Cannot run the command: it contains half of a character");
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    throw new RangeError("Cannot run the command: it is longer than 1 MiB. Write it to a file and run that");
  }
  if (cwd !== undefined && (typeof cwd !== "string" || cwd.includes("\0") || !isWellFormed(cwd))) {
    throw new TypeError("Cannot run the command: cwd must be a path of whole characters without NUL");
  }
  checkDuration("timeoutMs", timeoutMs);
  if (stdin === "none" || stdin === "open") return;
  if (typeof stdin !== "object" || stdin === null)
    throw new TypeError("stdin must be 'none', 'open', { text } or { bytes }");
  checkInput("text" in stdin ? stdin.text : stdin.bytes);
}

export function checkInput(data: unknown): void {
  if (typeof data === "string" || data instanceof Uint8Array) return;
  throw new TypeError(`Cannot use a ${typeof data} as input: give a string or a Uint8Array`);
}
