// What the commands of the console can use.

import { join, resolve } from "node:path";
import type { Session } from "../../session/session.ts";
import { homeFolder } from "../../util/home-folder.ts";

export interface ReplContext {
  readonly session: Session;
  readonly sessions: readonly Session[];
  /** Environment variables that :env has set. */
  readonly env: Map<string, string>;
  /** Usage of the last execution. */
  readonly last: { readonly durationMs: number; readonly cpuMs: number; readonly peakMemoryBytes: number } | undefined;
  /** What was typed, in this console and earlier ones. The oldest comes first. */
  readonly history: readonly string[];
  /** The last number of this input in `In` and `Out` of the session. Undefined: it was not run there, or long ago. */
  numberOf(input: string): number | undefined;
  line(text: string): void;
  /** Prints source, coloured. */
  code(text: string): void;
  /** Runs code for a command. */
  run(code: string): Promise<void>;
  /** Makes another session the current one. */
  switchTo(session: Session): void;
  load(path: string, id: string | undefined): Promise<Session>;
  /** Replaces the current session with a new one. */
  restart(): Promise<void>;
  quit(): void;
}

export type Action = (context: ReplContext, args: readonly string[]) => Promise<void> | void;

/** A path of this machine; expands `~`. */
export function toHostPath(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homeFolder(), path.slice(1)) : resolve(path);
}

export function need(value: string | undefined, what: string): string {
  if (value === undefined) throw new Error(`give ${what}`);
  return value;
}
