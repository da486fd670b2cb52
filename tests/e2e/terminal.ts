/* oxlint-disable no-control-regex -- control characters are what a terminal is about */
// The built program in a pseudo-terminal, and a screen with what a user would see.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { PYTHON } from "../open.ts";
import { graphemeWidth, toGraphemes } from "../../src/util/text/text-width.ts";

const CLI = new URL("../../dist/cli.cjs", import.meta.url).pathname;
const FIXTURE = new URL("../fixtures/in-terminal.py", import.meta.url).pathname;

export const KEYS = {
  enter: "\r",
  tab: "\t",
  up: "\u001B[A",
  down: "\u001B[B",
  left: "\u001B[D",
  right: "\u001B[C",
  altF: "\u001Bf",
  backspace: "\u007F",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlR: "\u0012",
  paste: (text: string) => `\u001B[200~${text}\u001B[201~`,
} as const;

const PATIENCE_MS = 20_000;

interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
}

export class TestTerminal implements AsyncDisposable {
  /** The exit code. */
  readonly ended: Promise<number | null>;
  /** Everything written to the terminal. */
  raw = "";
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #screen: Screen;
  readonly #waiting = new Set<() => void>();
  #isEnded = false;

  constructor(args: readonly string[], { env, columns = 80, rows = 24, cwd }: TerminalOptions) {
    const base = {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      RLM_PYTHON: PYTHON,
      RLM_PRELOAD: "none",
      TERM: "xterm-256color",
    };
    const command = [FIXTURE, String(columns), String(rows), process.execPath, CLI, ...args];
    this.#child = spawn(PYTHON, command, { cwd, env: { ...base, ...env } });
    this.#screen = new Screen(columns);
    const decoder = new StringDecoder("utf8");
    this.#child.stdout.on("data", (chunk: Buffer) => {
      const text = decoder.write(chunk);
      this.raw += text;
      this.#screen.write(text);
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        this.#isEnded = true;
        this.#wake();
        resolve(code);
      });
    });
  }

  /** All rows, including those that scrolled away, without empty ones at the end. */
  get screen(): string {
    return this.#screen.text;
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  resize(columns: number, rows: number): void {
    this.#screen.columns = columns;
    this.#child.stdin.write(`\0${columns}x${rows}\n`);
  }

  /** Resolves with the screen when the pattern is on it. */
  async until(pattern: RegExp): Promise<string> {
    await this.#until(pattern, () => this.screen);
    return this.screen;
  }

  async untilRaw(pattern: RegExp): Promise<void> {
    await this.#until(pattern, () => this.raw);
  }

  async #until(pattern: RegExp, text: () => string): Promise<void> {
    const limit = AbortSignal.timeout(PATIENCE_MS);
    limit.addEventListener("abort", () => this.#wake());
    while (!pattern.test(text())) {
      if (this.#isEnded || limit.aborted)
        throw new Error(`${this.#isEnded ? "ended" : "stands"} without ${pattern}:\n${text()}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isEnded) this.#child.kill("SIGTERM");
    await this.ended;
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Emulates as much of a terminal as the console uses. Keeps rows that scroll away. */
class Screen {
  columns: number;
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #rest = "";

  constructor(columns: number) {
    this.columns = columns;
  }

  get text(): string {
    return this.#rows
      .map((cells) =>
        Array.from(cells, (cell) => cell ?? " ")
          .join("")
          .trimEnd(),
      )
      .join("\n")
      .trimEnd();
  }

  write(text: string): void {
    const parts = (this.#rest + text).matchAll(
      /\u001B\[[0-?]*[@-~]|\u001B[\]_P][^\u0007\u001B]*(?:\u0007|\u001B\\)|\r|\n|\u001B[^]*$|[^\u001B\r\n]+/g,
    );
    this.#rest = "";
    for (const [part] of parts) {
      if (part === "\r") this.#column = 0;
      else if (part === "\n") this.#down(1);
      else if (!part.startsWith("\u001B")) this.#print(part);
      else if (part.startsWith("\u001B[") && part.length > 2)
        this.#command(part.at(-1) ?? "", Number.parseInt(part.slice(2), 10) || 0);
      else if (!/\u0007$|\\$/.test(part)) this.#rest = part;
    }
  }

  #print(text: string): void {
    for (const grapheme of toGraphemes(text)) {
      const width = graphemeWidth(grapheme);
      if (this.#column + width > this.columns) {
        this.#column = 0;
        this.#down(1);
      }
      const row = (this.#rows[this.#row] ??= []);
      row[this.#column] = grapheme;
      for (let extra = 1; extra < width; extra += 1) row[this.#column + extra] = "";
      this.#column += width;
    }
  }

  #command(final: string, count: number): void {
    if (final === "A") this.#row = Math.max(0, this.#row - Math.max(1, count));
    else if (final === "C") this.#column += Math.max(1, count);
    else if (final === "J" && count === 0) {
      this.#rows[this.#row]?.splice(this.#column);
      this.#rows.splice(this.#row + 1);
    } else if (final === "K" && count === 0) this.#rows[this.#row]?.splice(this.#column);
    else if (final === "J") this.#rows = [[]];
    else if (final === "H") [this.#row, this.#column] = [0, 0];
  }

  #down(count: number): void {
    this.#row += count;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }
}
