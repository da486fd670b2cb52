// Makes untrusted text safe for a terminal.
//
// Kept: colours (SGR), tab, newline, carriage return, backspace. Removed: all other terminal commands, such as titles,
// links, the clipboard, cursor movement, and queries that the terminal would answer as if the user typed.

import { TerminalParser } from "./terminal-parser.ts";

/** For a stream of chunks; a sequence may be split between them. */
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

/** For a complete text. */
export function toTerminalText(text: string): string {
  return new TerminalFilter().write(text);
}
