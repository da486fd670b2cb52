// Earlier code, with the arrow keys: what was typed last is kept below it.

export class Recall {
  /** From the end; 0 is what was typed. */
  #at = 0;
  #draft = "";
  #shown = "";

  /** `codes`: the oldest first. Undefined: there is nothing in this direction. */
  step(direction: "older" | "newer", current: string, codes: readonly string[]): string | undefined {
    const distinct = codes.filter((code, index) => code !== codes[index + 1]);
    if (this.#at === 0 || current !== this.#shown) {
      this.#at = 0;
      this.#draft = current;
    }
    const next = this.#at + (direction === "older" ? 1 : -1);
    if (next < 0 || next > distinct.length) return undefined;
    this.#at = next;
    this.#shown = next === 0 ? this.#draft : (distinct.at(-next) ?? "");
    return this.#shown;
  }

  reset(): void {
    this.#at = 0;
  }
}
