// Decodes the input of a terminal into keys.
//
// A sequence may be split between chunks. A lone ESC is a key only if nothing follows. The caller, who has the timer,
// decides that: while `isWaiting`, it calls `flush` after a delay.

export type Key =
  | { readonly kind: "text"; readonly text: string }
  /** Contains no keys. `typed`: the terminal did not mark it as a paste, and these are the keys if it is none. */
  | { readonly kind: "paste"; readonly text: string; readonly typed?: readonly Key[] }
  /** `enter`, `up`, `ctrl-a`, `alt-b`, `shift-tab`, ... */
  | { readonly kind: "key"; readonly name: string }
  /** A report that answers a query. */
  | { readonly kind: "report"; readonly text: string };

const ESC = "\u001B";
const PASTE_END = `${ESC}[201~`;
const MAX_PASTE = 16 * 1024 * 1024;
const MAX_STRING = 64 * 1024;

const LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "shift-tab",
};
const NUMBERS: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "page-up",
  6: "page-down",
  7: "home",
  8: "end",
};
/** Keys that terminals report by code. */
const CODES: Readonly<Record<string, string>> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };

/* oxlint-disable no-control-regex -- control characters are what a terminal sends */
const SEQUENCE = /^\u001B\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])/;
const SHORT_SEQUENCE = /^\u001BO(?<final>[@-~])/;
const STRING = /^\u001B[\]P_^X](?<body>[\s\S]*?)(?:\u0007|\u001B\\)/;
const STRING_START = /^\u001B[\]P_^X]/;
const UNFINISHED = /^\u001B\u001B?(?:\[[0-?]*[ -/]*|O)?$/;
const PRINTABLE = /^[^\u0000-\u001F\u007F-\u009F]+/;
/* oxlint-enable no-control-regex */

export class KeyDecoder {
  #rest = "";
  #isPasting = false;

  /** Whether the input ends in an incomplete sequence or an ESC. */
  get isWaiting(): boolean {
    return this.#rest !== "" && !this.#isPasting;
  }

  /** Whether the next chunk begins with a new key. */
  get isIdle(): boolean {
    return this.#rest === "" && !this.#isPasting;
  }

  write(chunk: string): Key[] {
    this.#rest += chunk;
    const keys: Key[] = [];
    while (this.#rest !== "") {
      const key = this.#next();
      if (key === undefined) break;
      if (key !== null) keys.push(key);
    }
    return keys;
  }

  /** Nothing follows: decodes the rest. */
  flush(): Key[] {
    if (!this.isWaiting) return [];
    const rest = this.#rest;
    this.#rest = "";
    return rest === ESC ? [{ kind: "key", name: "escape" }] : [];
  }

  /** Undefined: incomplete. Null: not a key. */
  #next(): Key | null | undefined {
    if (this.#isPasting) return this.#paste();
    const rest = this.#rest;
    if (rest.startsWith(ESC)) return this.#escape(rest);
    const text = PRINTABLE.exec(rest)?.[0];
    if (text === undefined) return this.#take(1, toControl(rest.charCodeAt(0)));
    return this.#take(text.length, { kind: "text", text });
  }

  #escape(rest: string): Key | null | undefined {
    const string = STRING.exec(rest);
    if (string !== null) return this.#take(string[0].length, { kind: "report", text: string[0] });
    if (STRING_START.test(rest)) return rest.length > MAX_STRING ? this.#take(rest.length, null) : undefined;
    if (UNFINISHED.test(rest)) return undefined;
    const sequence = SEQUENCE.exec(rest) ?? SHORT_SEQUENCE.exec(rest);
    if (sequence !== null) return this.#sequence(sequence);
    const after = String.fromCodePoint(rest.codePointAt(1) ?? 0);
    if (after === ESC) return this.#take(1, { kind: "key", name: "escape" });
    const plain = PRINTABLE.test(after) ? after : (toControl(after.charCodeAt(0))?.name ?? "");
    return this.#take(1 + after.length, { kind: "key", name: `alt-${plain}` });
  }

  #sequence(match: RegExpExecArray): Key | null {
    const { parameters = "", final = "" } = match.groups ?? {};
    if (final === "~" && parameters === "200") {
      this.#isPasting = true;
      return this.#take(match[0].length, null);
    }
    if (parameters.startsWith("?")) return this.#take(match[0].length, { kind: "report", text: match[0] });
    const name = toName(final, parameters.split(";"));
    return this.#take(match[0].length, name === undefined ? null : { kind: "key", name });
  }

  #paste(): Key | undefined {
    const end = this.#rest.indexOf(PASTE_END);
    if (end === -1 && this.#rest.length <= MAX_PASTE) return undefined;
    this.#isPasting = false;
    const text = this.#rest.slice(0, end === -1 ? MAX_PASTE : end);
    this.#rest = end === -1 ? "" : this.#rest.slice(end + PASTE_END.length);
    return { kind: "paste", text };
  }

  #take<Result>(length: number, key: Result): Result {
    this.#rest = this.#rest.slice(length);
    return key;
  }
}

function toName(final: string, parameters: readonly string[]): string | undefined {
  const [first = "", modifier, code] = parameters;
  // Two ways to report any key by its code: 13;2u and 27;2;13~.
  if (final === "u") return named(CODES[first], modifier);
  if (final === "~" && first === "27") return named(CODES[code ?? ""], modifier);
  return named(final === "~" ? NUMBERS[first] : LETTERS[final], modifier);
}

function named(name: string | undefined, modifier = "1"): string | undefined {
  if (name === undefined) return undefined;
  const bits = Math.max(0, Number.parseInt(modifier, 10) - 1);
  return `${bits & 4 ? "ctrl-" : ""}${bits & 2 ? "alt-" : ""}${bits & 1 ? "shift-" : ""}${name}`;
}

function toControl(code: number): { readonly kind: "key"; readonly name: string } | null {
  if (code === 13 || code === 10) return { kind: "key", name: "enter" };
  if (code === 9) return { kind: "key", name: "tab" };
  if (code === 8 || code === 127) return { kind: "key", name: "backspace" };
  if (code > 31) return null;
  return { kind: "key", name: `ctrl-${String.fromCharCode(code + 64).toLowerCase()}` };
}
