// What commands may do with the console, and what they have in common.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Session } from "../../session/session.ts";

export interface ReplContext {
  readonly session: Session;
  readonly sessions: readonly Session[];
  /** Environment variables that were set from here. */
  readonly env: Map<string, string>;
  /** Of the last execution. */
  readonly last: { readonly durationMs: number; readonly cpuMs: number; readonly peakMemoryBytes: number } | undefined;
  line(text: string): void;
  /** Runs code that belongs to a command. */
  run(code: string): Promise<void>;
  /** Makes another session the current one. */
  switchTo(session: Session): void;
  load(path: string, id: string | undefined): Promise<Session>;
  /** A new session in place of the current one. */
  restart(): Promise<void>;
  quit(): void;
}

export type Action = (context: ReplContext, args: readonly string[]) => Promise<void> | void;

/** A path of this machine, as a shell understands it. */
export function toHostPath(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(path);
}

export function need(value: string | undefined, what: string): string {
  if (value === undefined) throw new Error(`give ${what}`);
  return value;
}
