// Whether Python code, given line by line, is inside of a string with three quotes: there a fence is text of the string.

export class TripleQuotes {
  /** The quotes that end the string; undefined outside of one. */
  #open: string | undefined;

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  feed(line: string): void {
    for (let place = 0; place < line.length;) {
      place = this.#open === undefined ? this.#feedCode(line, place) : this.#feedString(line, place, this.#open);
    }
  }

  #feedCode(line: string, place: number): number {
    const character = line.charAt(place);
    if (character === "#") return line.length;
    if (character !== '"' && character !== "'") return place + 1;
    const triple = character.repeat(3);
    if (!line.startsWith(triple, place)) return endOf(character, line, place + 1) ?? line.length;
    this.#open = triple;
    return place + 3;
  }

  #feedString(line: string, place: number, quotes: string): number {
    const end = endOf(quotes, line, place);
    if (end === undefined) return line.length;
    this.#open = undefined;
    return end;
  }
}

/** Behind the quotes that end a string; undefined where they are not in this line. A backslash hides what follows it, in raw strings too. */
function endOf(quotes: string, line: string, from: number): number | undefined {
  for (let place = from; place < line.length; place += 1) {
    if (line[place] === "\\") place += 1;
    else if (line.startsWith(quotes, place)) return place + quotes.length;
  }
  return undefined;
}
