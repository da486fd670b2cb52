// Finds a text in others without regard to case, by the simple case folding of Unicode, and says what is around it.

const AROUND = 80;
/** JSON writes these in another way. */
const ESCAPED_IN_JSON = /["\\\p{Cc}\p{Surrogate}]/u;

export interface Found {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

export class TextPattern {
  /** Characters that a match needs after its beginning, with what is around it. */
  readonly reach: number;
  /** JSON writes the text as it is. */
  readonly isSameInJSON: boolean;
  readonly #pattern: RegExp;

  constructor(text: string) {
    this.reach = text.length + AROUND;
    this.#pattern = new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), "iu");
    this.isSameInJSON = !ESCAPED_IN_JSON.test(text);
  }

  isIn(text: string): boolean {
    return this.#pattern.test(text);
  }

  /** The first occurrence. */
  findIn(text: string): (Found & { readonly index: number }) | undefined {
    const match = this.#pattern.exec(text);
    if (match === null) return undefined;
    const { index } = match;
    const end = index + match[0].length;
    return {
      index,
      before: toCopy(text.slice(Math.max(0, index - AROUND), index)),
      text: toCopy(match[0]),
      after: toCopy(text.slice(end, end + AROUND)),
    };
  }
}

/** Without halves of characters. Copied: a slice would keep the whole text in memory. */
function toCopy(text: string): string {
  const whole = text.replaceAll(/^\p{Surrogate}|\p{Surrogate}$/gu, "");
  return Buffer.from(whole, "utf16le").toString("utf16le");
}
