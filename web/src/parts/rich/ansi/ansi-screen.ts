// Terminal output as lines with styles. Text may come in pieces, cut anywhere.
//
// What a terminal would obey is not obeyed here: nothing is moved but the cursor in its line, no title is set, nothing is answered, and
// links are text. What a terminal would not show, such as control characters and marks that reorder text, is shown as an escape.

import { toSafeText } from "../../safe-text.ts";
import { AnsiLine, type AnsiRun } from "./ansi-line.ts";
import { changeStyle, PLAIN, type AnsiStyle } from "./ansi-style.ts";

/** Earlier lines are dropped, this many at a time. */
const MAX_LINES = 50_000;
const DROPPED_LINES = 5_000;
/** A longer sequence is text: a beginning without an end must not hide the rest of the output. */
const MAX_SEQUENCE = 4_096;
const ESCAPE = "\u001B";

// oxlint-disable no-control-regex -- control characters are what a terminal is about
/** Text up to what needs a decision. */
const PLAIN_TEXT = /[^\u0000-\u001F\u007F-\u009F]+/y;
/** `ESC [ parameters letter`. */
const CSI = /\u001B\[(?<parameters>[0-?]{0,256})[ -/]{0,16}(?<final>[@-~])/y;
/** Titles, links and the like: up to BEL or `ESC \`. */
const STRING = /\u001B[\]PX^_][^\u0000-\u001F\u009C]{0,4096}(?:\u0007|\u001B\\|\u009C)/y;
/** Character sets, keypad modes and so on. */
const SHORT = /\u001B[ -/]{0,4}[0-Z\\`-~]/y;
/** Could become a sequence with the text to come. */
const INCOMPLETE = /\u001B(?:\[[0-?]{0,256}[ -/]{0,16}|[\]PX^_][^\u0000-\u001F\u009C]{0,4096}\u001B?|[ -/]{0,4})?$/y;
// oxlint-enable no-control-regex

export class AnsiScreen {
  readonly #lines: AnsiLine[] = [new AnsiLine()];
  #dropped = 0;
  #style: AnsiStyle = PLAIN;
  /** The beginning of a sequence. */
  #pending = "";

  /** The last one may be empty: a line ends with its newline. */
  get lines(): readonly { readonly runs: readonly AnsiRun[] }[] {
    return this.#lines;
  }

  /** How many lines came before those that are kept. */
  get dropped(): number {
    return this.#dropped;
  }

  write(piece: string): void {
    const whole = this.#pending + piece;
    const text = /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(0, -1) : whole;
    this.#pending = whole.slice(text.length); // half of a pair
    let at = 0;
    while (at < text.length) {
      const plain = matchAt(PLAIN_TEXT, text, at);
      if (plain !== null) {
        this.#print(toSafeText(plain[0], { maxCharacters: Infinity }));
        at += plain[0].length;
      } else if (text[at] === ESCAPE) {
        const length = this.#obey(text, at);
        if (length === 0) {
          this.#pending = whole.slice(at);
          return;
        }
        at += length;
      } else {
        this.#control(text[at] ?? "");
        at += 1;
      }
    }
  }

  /** How many characters were read. 0: the sequence is not complete. */
  #obey(text: string, at: number): number {
    const csi = matchAt(CSI, text, at);
    if (csi !== null) {
      const { parameters = "", final } = csi.groups ?? {};
      if (final === "m") this.#style = changeStyle(this.#style, parameters);
      if (final === "K") this.#line.erase(Number(parameters) || 0);
      return csi[0].length;
    }
    const other = matchAt(STRING, text, at) ?? matchAt(SHORT, text, at);
    if (other !== null) return other[0].length;
    if (text.length - at < MAX_SEQUENCE && matchAt(INCOMPLETE, text, at) !== null) return 0;
    this.#print(toSafeText(ESCAPE));
    return 1;
  }

  #control(character: string): void {
    switch (character) {
      case "\n":
        this.#addLine();
        break;
      case "\r":
        this.#line.back(Infinity);
        break;
      case "\b":
        this.#line.back(1);
        break;
      case "\t":
        this.#print(character); // as wide as the style sheet says
        break;
      case "\u0007":
        break; // a bell
      default:
        this.#print(toSafeText(character));
    }
  }

  #print(text: string): void {
    let rest = text;
    while (rest !== "") {
      if (this.#line.isFull) this.#addLine();
      rest = this.#line.write(rest, this.#style);
    }
  }

  #addLine(): void {
    this.#lines.push(new AnsiLine());
    if (this.#lines.length < MAX_LINES + DROPPED_LINES) return;
    this.#lines.splice(0, DROPPED_LINES);
    this.#dropped += DROPPED_LINES;
  }

  get #line(): AnsiLine {
    const line = this.#lines.at(-1);
    if (line === undefined) throw new Error("A screen has a line");
    return line;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
