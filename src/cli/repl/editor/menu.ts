// A menu of completions below the text. The text shows the chosen one.

export interface Completions {
  /** The part of the text that a match replaces. */
  readonly start: number;
  readonly end: number;
  readonly matches: readonly string[];
  /** Shown if there are no matches. */
  readonly hint?: string;
}

export class Menu {
  readonly matches: readonly string[];
  readonly start: number;
  /** -1: none. */
  #chosen = -1;

  constructor({ start, matches }: Completions) {
    this.start = start;
    this.matches = matches;
  }

  get chosen(): number {
    return this.#chosen;
  }

  /** Returns the match to show in the text. */
  move(step: 1 | -1): string {
    const count = this.matches.length;
    this.#chosen = this.#chosen === -1 && step === -1 ? count - 1 : (this.#chosen + step + count) % count;
    return this.matches[this.#chosen] ?? "";
  }
}

/** The longest common prefix. */
export function commonStart(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length);
}
