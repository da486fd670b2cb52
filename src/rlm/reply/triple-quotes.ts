// Tracks, line by line, whether Python code is inside a triple-quoted string, where a fence is part of the string.

export class TripleQuotes {
  /** The quotes that end the string; undefined outside of a string. */
  #open: string | undefined;

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  feed(line: string): void {
    for (let index = 0; index < line.length;) {
      index = this.#open === undefined ? this.#feedCode(line, index) : this.#feedString(line, index, this.#open);
    }
  }

  #feedCode(line: string, index: number): number {
    const character = line.charAt(index);
    if (character === "#") return line.length;
    if (character !== '"' && character !== "'") return index + 1;
    const triple = character.repeat(3);
    if (!line.startsWith(triple, index)) return endOf(character, line, index + 1) ?? line.length;
    this.#open = triple;
    return index + 3;
  }

  #feedString(line: string, index: number, quotes: string): number {
    const end = endOf(quotes, line, index);
    if (end === undefined) return line.length;
    this.#open = undefined;
    return end;
  }
}

/** The index after the closing quotes; undefined where they are not in this line. A backslash escapes what follows it, also in raw strings. */
function endOf(quotes: string, line: string, from: number): number | undefined {
  for (let index = from; index < line.length; index += 1) {
    if (line[index] === "\\") index += 1;
    else if (line.startsWith(quotes, index)) return index + quotes.length;
  }
  return undefined;
}
