// What a folder or a glob leaves out: how many by reason, and the first names of files that are not text.

import { formatCount } from "../../../util/text/format.ts";
import { conversionOf, type NotText } from "./not-text.ts";

const MAX_NAMES = 3;
const NOT_TEXT = "files that are not text";

export class Skipped {
  readonly #counts = new Map<string, number>();
  readonly #names: string[] = [];
  #conversion: string | undefined;

  count(reason: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  countNotText(path: string, kind: NotText): void {
    this.count(NOT_TEXT);
    if (this.#names.length < MAX_NAMES) this.#names.push(path);
    this.#conversion ??= conversionOf(path, kind);
  }

  /** `links (1), files that are not text (2: a.pdf, b.bin; convert them, e.g. pdftotext a.pdf)`. Empty: nothing was skipped. */
  toString(): string {
    return [...this.#counts]
      .map(([reason, count]) => `${reason} (${formatCount(count)}${reason === NOT_TEXT ? this.#details(count) : ""})`)
      .join(", ");
  }

  #details(count: number): string {
    const names = [...this.#names, ...(count > this.#names.length ? ["…"] : [])].join(", ");
    const them = count === 1 ? "it" : "them";
    return `: ${names}${this.#conversion === undefined ? "" : `; convert ${them}, e.g. ${this.#conversion}`}`;
  }
}
