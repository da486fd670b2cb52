// Where the console reads from and writes to: a terminal with an editor, or plain lines.

import type { Completions } from "./editor/menu.ts";
import type { Answer } from "./editor/prompt.ts";

export interface Question {
  /** What is on the last line already. */
  readonly before: string;
  /** What is to be put behind it. */
  readonly prompt: string;
  readonly password: boolean;
  readonly signal: AbortSignal;
}

export interface Reader extends Disposable {
  /** Whether a person sees what is written. */
  readonly isTerminal: boolean;
  /** Ctrl-C while code runs. */
  onInterrupt: () => void;
  /** The terminal is gone. */
  onEnd: () => void;
  /** Answers Tab. */
  onComplete: (text: string, cursor: number) => Promise<Completions>;
  /** The next piece of code, or a command. It stays on the screen until `leave`. */
  readCode(prompt: string): Promise<Answer>;
  /** The last text was not whole: reads on from there. */
  readOn(): Promise<Answer>;
  /** What follows is output. */
  leave(mark?: string): void;
  /** A line that code asked for, once the output before it is written. */
  readLine(question: Question): Promise<Answer>;
  /** Lines that nobody waits for, above what is being typed. */
  interject(lines: string): void;
  /** As it is: it commands the terminal where there is one. */
  write(text: string): void;
  /** What went wrong; on a terminal the same as `write`. */
  writeError(text: string): void;
  /** The attributes that the terminal says it has. */
  ask(limitMs: number): Promise<readonly string[] | undefined>;
}
