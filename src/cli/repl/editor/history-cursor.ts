// Moves through the history, one entry at a time or by a search.

export class HistoryCursor {
  readonly #entries: readonly string[];
  #index: number;
  #draft = "";
  #prefix = "";

  /** The oldest comes first. */
  constructor(entries: readonly string[]) {
    this.#entries = entries;
    this.#index = entries.length;
  }

  /** The next older entry with the prefix `before`, the text before the cursor when the walk began. */
  older(text: string, before: string): string | undefined {
    if (this.#index === this.#entries.length) {
      this.#draft = text;
      this.#prefix = before;
    }
    return this.#walk(text, -1);
  }

  /** The next newer entry, and finally the draft. Undefined: the draft is already shown. */
  newer(text: string): string | undefined {
    if (this.#index === this.#entries.length) return undefined;
    const entry = this.#walk(text, 1);
    if (entry !== undefined) return entry;
    this.reset();
    return this.#draft;
  }

  /** The text was edited: the next walk starts over. */
  reset(): void {
    this.#index = this.#entries.length;
  }

  search(): HistorySearch {
    return new HistorySearch(this.#entries);
  }

  /** Moves to the next entry in this direction that has the prefix and differs from the text. */
  #walk(text: string, step: 1 | -1): string | undefined {
    let index = this.#index;
    for (;;) {
      index += step;
      const entry = this.#entries[index];
      if (entry !== undefined && (entry === text || !entry.startsWith(this.#prefix))) continue;
      if (entry !== undefined) this.#index = index;
      return entry;
    }
  }
}

/** Ctrl-R: the newest entry that contains the query, then older ones. */
export class HistorySearch {
  readonly #entries: readonly string[];
  #query = "";
  #index: number;

  constructor(entries: readonly string[]) {
    this.#entries = entries;
    this.#index = entries.length;
  }

  get query(): string {
    return this.#query;
  }

  /** Undefined: no entry contains the query. */
  get found(): string | undefined {
    return this.#entries[this.#index];
  }

  /** Searches from the newest entry, or from the current one if the query grew. */
  narrow(query: string): void {
    const grew = query.startsWith(this.#query) && this.#query !== "";
    this.#query = query;
    this.#look(grew ? this.#index : this.#entries.length - 1);
  }

  older(): void {
    const before = this.#index;
    const { found } = this;
    do this.#look(this.#index - 1);
    while (this.found !== undefined && this.found === found);
    if (this.found === undefined) this.#index = before;
  }

  #look(from: number): void {
    let index = from;
    while (index >= 0 && (this.#query === "" || this.#entries[index]?.includes(this.#query) !== true)) index -= 1;
    this.#index = index < 0 ? this.#entries.length : index;
  }
}
