// The terminal in raw mode: keys, output and size. Restores the terminal when the console ends.
//
// Keys go to one listener. Without a listener they are queued, and Ctrl-C is an interrupt.

import { StringDecoder } from "node:string_decoder";
import { KeyDecoder, type Key } from "./editor/keys.ts";
import { PasteGuess } from "./editor/paste-guess.ts";

const ESCAPE_MS = 50;
const MAX_AHEAD = 10_000;
const PASTE_ON = "\u001B[?2004h";
const PASTE_OFF = "\u001B[?2004l";
const RESET = "\u001B[0m";

export class Terminal implements Disposable {
  /** Ctrl-C without a listener. */
  onInterrupt: () => void = () => {};
  onResize: () => void = () => {};
  /** The terminal is gone, or its input has ended. */
  onEnd: () => void = () => {};
  readonly #bytes = new StringDecoder("utf8");
  readonly #decoder = new KeyDecoder();
  readonly #unlisten: () => void;
  readonly #pasteGuess = new PasteGuess();
  #listener: ((key: Key) => void) | undefined;
  #guessesPastes = true;
  #onReport: ((text: string) => void) | undefined;
  #ahead: Key[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    const { stdin, stdout } = process;
    const onData = (data: Buffer): void => this.#receive(data);
    const onEnd = (): void => this.onEnd();
    const onResize = (): void => this.onResize();
    const onExit = (): void => this.#restore();
    stdin.on("data", onData).on("end", onEnd).on("error", onEnd);
    stdout.on("resize", onResize);
    process.on("exit", onExit);
    this.#unlisten = () => {
      stdin.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
      stdout.off("resize", onResize);
      process.off("exit", onExit);
    };
    this.#prepare();
  }

  get columns(): number {
    return process.stdout.columns || 80;
  }

  get rows(): number {
    return process.stdout.rows || 24;
  }

  write(text: string): void {
    process.stdout.write(text);
  }

  /**
   * Sets the listener and passes it the queued keys first. Without `guessesPastes`, several lines that arrive at once are keys, unless the
   * terminal marks them as a paste.
   */
  listen(listener: ((key: Key) => void) | undefined, { guessesPastes = true } = {}): void {
    this.#listener = listener;
    this.#guessesPastes = guessesPastes;
    this.#deliver();
  }

  /** Sends a query to the terminal. Undefined: no report in time. */
  async query(command: string, report: RegExp, limitMs: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const done = (text: string | undefined): void => {
        clearTimeout(timer);
        this.#onReport = undefined;
        resolve(text);
      };
      const timer = setTimeout(() => done(undefined), limitMs);
      this.#onReport = (text) => report.test(text) && done(text);
      this.write(command);
    });
  }

  /** Ctrl-Z: returns to the shell until the console is resumed. */
  suspend(onBack: () => void): void {
    this.#restore();
    process.once("SIGCONT", () => {
      this.#prepare();
      onBack();
    });
    process.kill(process.pid, "SIGTSTP");
  }

  [Symbol.dispose](): void {
    this.#unlisten();
    clearTimeout(this.#timer);
    this.#restore();
  }

  #prepare(): void {
    process.stdin.setRawMode(true);
    process.stdin.resume();
    this.write(PASTE_ON);
  }

  #restore(): void {
    try {
      process.stdout.write(`${PASTE_OFF}${RESET}`);
      process.stdin.setRawMode(false);
    } catch {
      // the terminal is gone
    }
  }

  #receive(data: Buffer): void {
    clearTimeout(this.#timer);
    const text = this.#bytes.write(data);
    const isPaste = this.#decoder.isIdle && this.#pasteGuess.isPaste(text, performance.now());
    const typed = this.#decoder.write(text);
    if (isPaste) this.#press({ kind: "paste", text, typed });
    else for (const key of typed) this.#press(key);
    if (!this.#decoder.isWaiting) return;
    this.#timer = setTimeout(() => {
      for (const key of this.#decoder.flush()) this.#press(key);
    }, ESCAPE_MS);
  }

  #press(key: Key): void {
    if (key.kind === "report") return this.#onReport?.(key.text);
    if (this.#listener === undefined && key.kind === "key" && key.name === "ctrl-c") {
      this.#ahead = [];
      return this.onInterrupt();
    }
    if (this.#ahead.length < MAX_AHEAD) this.#ahead.push(key);
    this.#deliver();
  }

  #deliver(): void {
    while (this.#listener !== undefined) {
      const key = this.#ahead.shift();
      if (key === undefined) return;
      if (key.kind === "paste" && key.typed !== undefined && !this.#guessesPastes) this.#ahead.unshift(...key.typed);
      else this.#listener(key);
    }
  }
}
