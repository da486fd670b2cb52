// Text from a program that is not trusted, made safe to show on a terminal.
//
// Kept: colours (SGR), tab, newline, carriage return, backspace. Removed: everything else that commands the terminal,
// such as titles, links, the clipboard, cursor movement and questions that the terminal would answer as if typed.

type State = "text" | "escape" | "sequence" | "string";

const ESC = "\u001B";
const MAX_SEQUENCE = 64;

/** One stream of text in pieces; a sequence may be cut anywhere between them. */
export class TerminalFilter {
  #state: State = "text";
  #sequence = "";

  write(text: string): string {
    if (this.#state === "text" && !UNSAFE.test(text)) return text;
    let safe = "";
    for (const character of text) safe += this.#step(character);
    return safe;
  }

  #step(character: string): string {
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

  #text(character: string): string {
    if (character === ESC) this.#state = "escape";
    else if (character === "\u009B") this.#begin("sequence");
    else if (STRING_STARTS.includes(character)) this.#state = "string";
    else if (!UNSAFE.test(character)) return character;
    return "";
  }

  #escape(character: string): string {
    this.#state = "text";
    if (character === "[") this.#begin("sequence");
    else if ("]PX^_".includes(character)) this.#state = "string";
    else if (character === ESC) this.#state = "escape";
    else if (character >= " " && character <= "/") this.#state = "escape"; // intermediate: the final byte follows
    else if (!(character >= "0" && character <= "~")) return this.#text(character);
    return "";
  }

  #inSequence(character: string): string {
    if (character >= " " && character <= "?" && this.#sequence.length < MAX_SEQUENCE) {
      this.#sequence += character;
      return "";
    }
    this.#state = "text";
    if (character === "m" && /^[\d;:]*$/.test(this.#sequence)) return `${ESC}[${this.#sequence}m`;
    return character >= "@" && character <= "~" ? "" : this.#text(character);
  }

  /** A string that is never ended would swallow everything: it ends with its line at the latest. */
  #inString(character: string): string {
    if (character === ESC) this.#state = "escape"; // ESC \ is the usual end
    else if (character === "\u0007" || character === "\u009C") this.#state = "text";
    else if (character === "\n") {
      this.#state = "text";
      return character;
    }
    return "";
  }

  #begin(state: State): void {
    this.#state = state;
    this.#sequence = "";
  }
}

/** For a text that is whole. */
export function toTerminalText(text: string): string {
  return new TerminalFilter().write(text);
}

// oxlint-disable-next-line no-control-regex -- control characters are what this file is about
const UNSAFE = /[\u0000-\u0007\u000B\u000C\u000E-\u001F\u007F-\u009F]/;
const STRING_STARTS = "\u0090\u0098\u009D\u009E\u009F";
