// Terminal colours: the eight that every theme defines, or none.

import type { TokenKind } from "../repl/editor/python-text.ts";

export type Colour = TokenKind | "prompt" | "error" | "quiet" | "strong" | "chosen";

const CODES: Readonly<Record<Colour, string>> = {
  comment: "90",
  string: "32",
  number: "36",
  keyword: "35",
  builtin: "34",
  command: "36",
  prompt: "1;34",
  error: "31",
  quiet: "90",
  strong: "1",
  chosen: "7",
};

export class Palette {
  readonly #isOn: boolean;

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** Whether there are colours. */
  get isOn(): boolean {
    return this.#isOn;
  }

  paint(colour: Colour | undefined, text: string): string {
    if (!this.#isOn || colour === undefined || text === "") return text;
    return `\u001B[${CODES[colour]}m${text}\u001B[0m`;
  }

  /** Marks the chosen item of a menu, also without colours. */
  choose(text: string): string {
    return this.#isOn ? this.paint("chosen", ` ${text} `) : `[${text}]`;
  }
}

/** For stdout. */
export function outputPalette(): Palette {
  return new Palette(process.stdout.isTTY && !process.env["NO_COLOR"]);
}
