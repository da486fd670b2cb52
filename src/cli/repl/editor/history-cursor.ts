// Going back through what was typed before: one by one, or by a search.

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

  /** The next older entry that begins like `before`, the text before the cursor when the walk began. */
  older(text: string, before: string): string | undefined {
    if (this.#index === this.#entries.length) {
      this.#draft = text;
      this.#prefix = before;
    }
    for (let index = this.#index - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index];
      if (entry === undefined || entry === text || !entry.startsWith(this.#prefix)) continue;
      this.#index = index;
      return entry;
    }
    return undefined;
  }

  /** The next newer one, at last what was being typed. Undefined when that is there already. */
  newer(text: string): string | undefined {
    if (this.#index === this.#entries.length) return undefined;
    for (let index = this.#index + 1; index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry === undefined || entry === text || !entry.startsWith(this.#prefix)) continue;
      this.#index = index;
      return entry;
    }
    this.forget();
    return this.#draft;
  }

  /** The text is somebody's own now: the next walk begins anew. */
  forget(): void {
    this.#index = this.#entries.length;
  }

  search(): HistorySearch {
    return new HistorySearch(this.#entries);
  }
}

/** Ctrl-R: the newest entry that contains what is typed, and older ones on demand. */
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

  /** Undefined where nothing contains the query. */
  get found(): string | undefined {
    return this.#entries[this.#index];
  }

  /** Looks from the newest on, unless the query only grew. */
  narrow(query: string): void {
    const grew = query.startsWith(this.#query) && this.#query !== "";
    this.#query = query;
    this.#look(grew ? this.#index : this.#entries.length - 1);
  }

  older(): void {
    const before = this.#index;
    const found = this.found;
    let index = this.#index;
    do {
      this.#look(index - 1);
      index = this.#index;
    } while (this.found !== undefined && this.found === found);
    if (this.found === undefined) this.#index = before;
  }

  #look(from: number): void {
    let index = from;
    while (index >= 0 && (this.#query === "" || this.#entries[index]?.includes(this.#query) !== true)) index -= 1;
    this.#index = index < 0 ? this.#entries.length : index;
  }
}
