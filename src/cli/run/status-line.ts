// What a command does before its run starts, on one line of a terminal that is redrawn and finally erased.

import { isLiveTerminal } from "../io/is-live-terminal.ts";
import type { DisplayTarget } from "./run-display.ts";
import { fit } from "./tree-frame.ts";

const REDRAW_MS = 200;

export class StatusLine implements Disposable {
  readonly #target: DisplayTarget;
  readonly #toText: () => string;
  readonly #timer: NodeJS.Timeout;
  #isDrawn = false;

  /** Nothing is shown before the first redraw, and while the text is empty. */
  constructor(target: DisplayTarget, toText: () => string) {
    this.#target = target;
    this.#toText = toText;
    this.#timer = setInterval(() => this.draw(), REDRAW_MS);
    this.#timer.unref();
  }

  draw(): void {
    const text = this.#toText();
    if (text === "") return;
    this.#isDrawn = true;
    this.#target.write(`\r\u001B[K${fit(text, (this.#target.columns ?? 80) - 1)}`);
  }

  /** Erases the line. Idempotent. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isDrawn) this.#target.write("\r\u001B[K");
    this.#isDrawn = false;
  }
}

/** On standard error. Undefined: nothing can be redrawn there, or nothing is to be shown. */
export function openStatusLine(toText: () => string, quiet = false): StatusLine | undefined {
  return quiet || !isLiveTerminal() ? undefined : new StatusLine(process.stderr, toText);
}
