// Text from a program that is not trusted, made safe to show on a terminal.
//
// Kept: colours (SGR), tab, newline, carriage return, backspace. Removed: everything else that commands the terminal,
// such as titles, links, the clipboard, cursor movement and questions that the terminal would answer as if typed.

import { TerminalParser } from "./terminal-parser.ts";

/** One stream of text in pieces; a sequence may be cut anywhere between them. */
export class TerminalFilter {
  readonly #parser = new TerminalParser({
    text: (characters) => {
      this.#safe += characters;
    },
    sequence: (parameters, final) => {
      if (final === "m" && /^[\d;:]*$/.test(parameters)) this.#safe += `\u001B[${parameters}m`;
    },
  });
  #safe = "";

  write(text: string): string {
    this.#safe = "";
    this.#parser.write(text);
    return this.#safe;
  }
}

/** For a text that is whole. */
export function toTerminalText(text: string): string {
  return new TerminalFilter().write(text);
}
