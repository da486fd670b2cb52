// Reads plain lines from a pipe or a dumb terminal.
//
// A piece of code is one line, or a block that ends at an empty line or at a line that does not belong to it.

import { createInterface, type Interface } from "node:readline";
import { isOneOutput } from "../io/is-one-output.ts";
import type { Completions } from "./editor/menu.ts";
import type { Answer } from "./editor/prompt.ts";
import { isInBlock, looksOpen } from "./editor/python-text.ts";
import type { Question, Reader } from "./reader.ts";

const CONTINUES = /^(?:else|elif|except|finally|case)\b/;

export class PlainReader implements Reader {
  readonly isTerminal = process.stdin.isTTY;
  onInterrupt: () => void = () => {};
  onEnd: () => void = () => {};
  onComplete: (text: string, cursor: number) => Promise<Completions> = async () => ({ start: 0, end: 0, matches: [] });
  readonly #lines: Interface = createInterface({ input: process.stdin, terminal: false });
  readonly #iterator: AsyncIterator<string, undefined> = this.#lines[Symbol.asyncIterator]();
  /** A line that was requested and not consumed yet. */
  #next: Promise<IteratorResult<string, undefined>> | undefined;
  readonly #isOneOutput = isOneOutput();
  #text = "";

  get columns(): number {
    return process.stdout.isTTY ? process.stdout.columns : 0;
  }

  async readCode(prompt: string): Promise<Answer> {
    this.#text = "";
    return this.#read(prompt);
  }

  async readMore(): Promise<Answer> {
    return this.#read("... ");
  }

  leave(): void {}

  async readLine({ prompt, signal }: Question): Promise<Answer> {
    this.writeError(prompt);
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    await Promise.race([this.#peek(), aborted]);
    if (signal.aborted) return { kind: "cancelled" };
    const line = await this.#line();
    return line === undefined ? { kind: "ended" } : { kind: "text", text: line };
  }

  interject(lines: string): void {
    this.write(lines);
  }

  write(text: string): void {
    process.stdout.write(text);
  }

  writeError(text: string): void {
    (this.#isOneOutput ? process.stdout : process.stderr).write(text);
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }

  async #read(prompt: string): Promise<Answer> {
    for (let shown = prompt; ; shown = "... ") {
      if (this.isTerminal) this.write(shown);
      const line = await this.#line();
      if (line === undefined) return this.#text === "" ? { kind: "ended" } : this.#take();
      if (this.#endsBlock(line)) {
        this.#next = Promise.resolve({ value: line, done: false });
        return this.#take();
      }
      this.#text += this.#text === "" ? line : `\n${line}`;
      const isOpen = looksOpen(this.#text) || (this.#text.includes("\n") && isInBlock(this.#text));
      if (line.trim() === "" || /^[:?]/.test(this.#text) || !isOpen) return { kind: "text", text: this.#text };
    }
  }

  /** Whether the line does not belong to the open block. */
  #endsBlock(line: string): boolean {
    if (!this.#text.includes("\n") || looksOpen(this.#text) || !isInBlock(this.#text)) return false;
    return /^\S/.test(line) && !CONTINUES.test(line);
  }

  #take(): Answer {
    const text = this.#text;
    this.#text = "";
    return { kind: "text", text };
  }

  async #line(): Promise<string | undefined> {
    const { value, done } = await this.#peek();
    this.#next = undefined;
    return done === true ? undefined : value;
  }

  /** The next line, without consuming it. */
  #peek(): Promise<IteratorResult<string, undefined>> {
    this.#next ??= this.#iterator.next();
    return this.#next;
  }
}
