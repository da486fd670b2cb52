// Splits terminal output into characters to show and the commands between them.
//
// Input may be split anywhere, and takes linear time.

type State = "text" | "escape" | "sequence" | "string";

const ESC = "\u001B";
const MAX_SEQUENCE = 64;
const STRING_STARTS = "\u0090\u0098\u009D\u009E\u009F";
// oxlint-disable-next-line no-control-regex -- finds control characters
const CONTROL = /[\u0000-\u0007\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

/** Called in order. Everything else (titles, links, device strings, single escapes, other controls) is dropped. */
export interface TerminalListener {
  /** Characters to show, including tab, newline, carriage return and backspace. */
  text(characters: string): void;
  /** ESC [ parameters final: a colour, a movement, an erasure or a query. */
  sequence(parameters: string, final: string): void;
}

export class TerminalParser {
  readonly #listener: TerminalListener;
  #state: State = "text";
  #parameters = "";

  constructor(listener: TerminalListener) {
    this.#listener = listener;
  }

  /** Whether the next character is text and not the rest of a command. */
  get isInText(): boolean {
    return this.#state === "text";
  }

  write(text: string): void {
    if (this.#state === "text" && !CONTROL.test(text)) {
      if (text !== "") this.#listener.text(text);
      return;
    }
    for (const character of text) this.#step(character);
  }

  #step(character: string): void {
    switch (this.#state) {
      case "text":
        return this.#text(character);
      case "escape":
        return this.#escape(character);
      case "sequence":
        return this.#inSequence(character);
      case "string":
        return this.#inString(character);
    }
  }

  #text(character: string): void {
    if (character === ESC) this.#state = "escape";
    else if (character === "\u009B") this.#beginSequence();
    else if (STRING_STARTS.includes(character)) this.#state = "string";
    else if (!CONTROL.test(character)) this.#listener.text(character);
  }

  #escape(character: string): void {
    this.#state = "text";
    if (character === "[") this.#beginSequence();
    else if ("]PX^_".includes(character)) this.#state = "string";
    else if (character === ESC) this.#state = "escape";
    else if (character >= " " && character <= "/") this.#state = "escape"; // intermediate: the final byte follows
    else if (!(character >= "0" && character <= "~")) this.#text(character);
  }

  #inSequence(character: string): void {
    if (character >= " " && character <= "?" && this.#parameters.length < MAX_SEQUENCE) {
      this.#parameters += character;
      return;
    }
    this.#state = "text";
    if (character >= "@" && character <= "~") this.#listener.sequence(this.#parameters, character);
    else this.#text(character);
  }

  /** A string ends with its line at the latest, so that an unterminated one does not swallow all text. */
  #inString(character: string): void {
    if (character === ESC) this.#state = "escape"; // ESC \ is the usual end
    else if (character === "\u0007" || character === "\u009C") this.#state = "text";
    else if (character === "\n") {
      this.#state = "text";
      this.#listener.text(character);
    }
  }

  #beginSequence(): void {
    this.#state = "sequence";
    this.#parameters = "";
  }
}
