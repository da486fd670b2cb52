// Reads from a terminal through prompts with an editor.

import { toTerminalText } from "../../util/text/terminal-text.ts";
import { textWidth } from "../../util/text/text-width.ts";
import type { Completions } from "./editor/menu.ts";
import { Palette } from "../io/palette.ts";
import { Prompt, type Answer } from "./editor/prompt.ts";
import type { Question, Reader } from "./reader.ts";
import { Terminal } from "./terminal.ts";

export class TerminalReader implements Reader {
  readonly isTerminal = true;
  onComplete: (text: string, cursor: number) => Promise<Completions> = async () => ({ start: 0, end: 0, matches: [] });
  readonly #terminal = new Terminal();
  readonly #palette: Palette;
  readonly #history: readonly string[];
  #prompt: Prompt | undefined;
  #question: Prompt | undefined;

  /** `history` may grow; each prompt uses its current entries. */
  constructor(palette: Palette, history: readonly string[]) {
    this.#palette = palette;
    this.#history = history;
  }

  get columns(): number {
    return this.#terminal.columns;
  }

  set onInterrupt(listener: () => void) {
    this.#terminal.onInterrupt = listener;
  }

  set onEnd(listener: () => void) {
    this.#terminal.onEnd = listener;
  }

  readCode(prompt: string): Promise<Answer> {
    this.#prompt = new Prompt(this.#terminal, {
      kind: "code",
      history: this.#history,
      prompt,
      continuation: `${" ".repeat(Math.max(0, prompt.length - 4))}... `,
      palette: this.#palette,
      isSecret: false,
      complete: (text, cursor) => this.onComplete(text, cursor),
    });
    return this.#prompt.read();
  }

  async readMore(): Promise<Answer> {
    this.#prompt?.addLine();
    return this.#prompt?.read() ?? { kind: "ended" };
  }

  leave(mark?: string): void {
    this.#prompt?.leave(mark);
  }

  async readLine({ before, prompt: added, password, signal }: Question): Promise<Answer> {
    const shown = before + toTerminalText(added);
    // The prompt is redrawn in place. One that fills its row cannot be, so it moves to the next row.
    const isLong = textWidth(shown) >= this.#terminal.columns;
    if (isLong) this.write("\n");
    const prompt = new Prompt(this.#terminal, {
      kind: "line",
      prompt: isLong ? added : shown,
      continuation: "",
      palette: new Palette(false),
      isSecret: password,
    });
    this.#question = prompt;
    const answer = await prompt.read(signal);
    this.#question = undefined;
    prompt.leave(answer.kind === "cancelled" ? "^C" : "");
    return answer;
  }

  interject(lines: string): void {
    if (this.#prompt?.isShown !== true) this.write(toTerminalText(lines));
    else this.#prompt.interject(toTerminalText(lines));
  }

  /** While a prompt for input is open, output of other threads goes above it. */
  write(text: string): void {
    if (this.#question === undefined || text === "") this.#terminal.write(text);
    else this.#question.interject(text.endsWith("\n") ? text : `${text}\n`);
  }

  writeError(text: string): void {
    this.write(text);
  }

  async queryAttributes(limitMs: number): Promise<readonly string[] | undefined> {
    // oxlint-disable-next-line no-control-regex -- a report of the terminal
    const report = await this.#terminal.query("\u001B[c", /^\u001B\[\?[\d;]*c$/, limitMs);
    return report?.slice(3, -1).split(";");
  }

  [Symbol.dispose](): void {
    this.#terminal[Symbol.dispose]();
  }
}
