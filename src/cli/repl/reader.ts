// The input and output of the console: a terminal with an editor, or plain lines.

import type { Completions } from "./editor/menu.ts";
import type { Answer } from "./editor/prompt.ts";

export interface Question {
  /** What is already on the last line. */
  readonly before: string;
  /** What to add to it. */
  readonly prompt: string;
  readonly password: boolean;
  readonly signal: AbortSignal;
}

export interface Reader extends Disposable {
  /** Whether a user sees what is written. */
  readonly isTerminal: boolean;
  /** The width of the terminal. 0: there is none. */
  readonly columns: number;
  /** Ctrl-C while code runs. */
  onInterrupt: () => void;
  /** The terminal is gone. */
  onEnd: () => void;
  /** Completes at Tab. */
  onComplete: (text: string, cursor: number) => Promise<Completions>;
  /** The next piece of code, or a command. It stays on the screen until `leave`. */
  readCode(prompt: string): Promise<Answer>;
  /** The last text was incomplete: continues it. */
  readMore(): Promise<Answer>;
  /** Leaves the prompt: output follows. */
  leave(mark?: string): void;
  /** Reads a line for input(), after the output before it was written. */
  readLine(question: Question): Promise<Answer>;
  /** Prints lines above the prompt. */
  interject(lines: string): void;
  /** Writes unchanged, terminal commands included. */
  write(text: string): void;
  /** Writes to stderr; on a terminal the same as `write`. */
  writeError(text: string): void;
  /** The attributes that the terminal reports. Undefined: no report in time. Absent: there is no terminal to query. */
  queryAttributes?(limitMs: number): Promise<readonly string[] | undefined>;
}
