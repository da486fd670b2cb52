// Reads one text on the terminal with an editor.
//
// After the text was submitted the prompt stays on the screen. The reader either continues it (`addLine`), or leaves it
// (`leave`) so that output can follow. Output that arrives while it is shown goes above it (`interject`).

import { onAbort } from "../../../util/async/on-abort.ts";
import { withTimeout } from "../../../util/async/with-timeout.ts";
import { Editor, type EditorOptions } from "./editor.ts";
import { createFrame, type Frame, type View } from "./frame.ts";
import type { Key } from "./keys.ts";
import type { Completions } from "./menu.ts";
import { Screen } from "./screen.ts";
import type { Terminal } from "../terminal.ts";

export interface PromptOptions extends EditorOptions, Omit<View, "columns" | "isCode" | "isLeft"> {
  /** Completes at Tab. Rejections are ignored. */
  readonly complete?: (text: string, cursor: number) => Promise<Completions>;
}

export type Answer =
  | { readonly kind: "text"; readonly text: string }
  /** Ctrl-C. */
  | { readonly kind: "cancelled" }
  /** Ctrl-D. */
  | { readonly kind: "ended" };

const COMPLETE_MS = 1000;

export class Prompt {
  readonly #terminal: Terminal;
  readonly #options: PromptOptions;
  readonly #editor: Editor;
  readonly #screen = new Screen();
  #resolve: ((answer: Answer) => void) | undefined;
  #isShown = true;
  /** Keys that are queued while a completion is computed. */
  #held: Key[] | undefined;

  get isShown(): boolean {
    return this.#isShown;
  }

  constructor(terminal: Terminal, options: PromptOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#editor = new Editor(options);
    this.#paint();
  }

  /** Aborting acts like Ctrl-C. */
  read(signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const cancel = (): void => this.#answer({ kind: "cancelled" });
      const stopListening = onAbort(signal, cancel);
      this.#resolve = (answer) => {
        stopListening();
        resolve(answer);
      };
      this.#terminal.onResize = () => this.#resized();
      this.#terminal.listen((key) => this.#press(key), { guessesPastes: this.#options.kind === "code" });
      if (signal?.aborted) cancel();
    });
  }

  /** Adds a line, and shows the prompt again if it was left. */
  addLine(): void {
    this.#isShown = true;
    this.#editor.addLine();
    this.#paint();
  }

  /** `mark` is appended to the text. */
  leave(mark = ""): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    const { rows } = this.#frame({ isLeft: true });
    const whole = rows.map((row, index) => (index === rows.length - 1 ? row + mark : row));
    this.#terminal.write(this.#screen.leave({ rows: whole, cursorRow: 0, cursorColumn: 0 }));
  }

  /** Whole lines, safe to show. */
  interject(lines: string): void {
    if (!this.#isShown) return;
    this.#terminal.write(this.#screen.erase() + lines);
    this.#paint();
  }

  #press(key: Key): void {
    if (this.#held !== undefined) return void this.#held.push(key);
    switch (this.#editor.press(key)) {
      case undefined:
        return this.#paint();
      case "submit":
        return this.#answer({ kind: "text", text: this.#editor.text });
      case "cancel":
        return this.#answer({ kind: "cancelled" });
      case "end":
        return this.#answer({ kind: "ended" });
      case "complete":
        return void this.#complete();
      case "clear-screen":
        this.#terminal.write(this.#screen.clear());
        return this.#paint();
      case "suspend":
        this.#terminal.write(this.#screen.erase());
        return this.#terminal.suspend(() => this.#paint());
    }
  }

  /** Keys that arrive meanwhile are queued, for a second at most. */
  async #complete(): Promise<void> {
    const { text, cursor } = this.#editor;
    this.#held = [];
    const computed = this.#options.complete?.(text, cursor).catch(() => undefined);
    const completions = computed && (await withTimeout(COMPLETE_MS, computed));
    const held = this.#held;
    this.#held = undefined;
    if (this.#resolve === undefined) return;
    if (completions !== undefined) this.#editor.offer(completions);
    this.#paint();
    for (const key of held) this.#press(key);
  }

  #answer(answer: Answer): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#resolve = undefined;
    this.#terminal.listen(undefined);
    this.#terminal.onResize = () => {};
    resolve(answer);
  }

  #frame({ isLeft = false } = {}): Frame {
    const { columns } = this.#terminal;
    return createFrame(this.#editor, { ...this.#options, columns, isCode: this.#options.kind === "code", isLeft });
  }

  #paint(): void {
    this.#terminal.write(this.#screen.paint(this.#frame(), this.#terminal.rows));
  }

  #resized(): void {
    this.#screen.moved(this.#frame().cursorRow);
    this.#paint();
  }
}
