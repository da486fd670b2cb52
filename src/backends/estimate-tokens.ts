// Token counts estimated from text, where no tokenizer is at hand.

const BYTES_PER_TOKEN = 3;
/** The role and the separators of each message. */
const TOKENS_PER_MESSAGE = 8;

/**
 * Three bytes of UTF-8 per token: too many tokens for prose, which has four to five bytes per token, and about right for code and
 * numbers. Bytes are a better measure than characters: in scripts with three bytes per character, a token is rarely more than one character.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

export function estimateInputTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text) + TOKENS_PER_MESSAGE, 0);
}

const SPACE = 32;

/** Counts the words of a text that comes in pieces. No tokenizer in use has tokens that span two words, so it has at least as many tokens. */
export class WordCount {
  #words = 0;
  #isInWord = false;

  get words(): number {
    return this.#words;
  }

  add(text: string): this {
    for (let index = 0; index < text.length; index++) {
      const isSpace = text.charCodeAt(index) <= SPACE;
      if (!isSpace && !this.#isInWord) this.#words++;
      this.#isInWord = !isSpace;
    }
    return this;
  }
}
