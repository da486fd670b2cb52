// How well a text fits what somebody typed. Words are found in any order; letters that are close together and at the start of words count
// more.

export interface Match {
  /** The larger, the better. */
  readonly score: number;
  /** Which characters fit, as pairs of start and end. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

const WORD_START = /[\s\-_./:]/;

/** Undefined: it does not fit. An empty query fits everything. */
export function match(query: string, text: string): Match | undefined {
  const lower = text.toLowerCase();
  let score = 0;
  const marks: [number, number][] = [];
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const found = matchWord(word, lower);
    if (found === undefined) return undefined;
    score += found.score;
    marks.push(...found.marks);
  }
  return { score: score - text.length / 1_000, marks: join(marks) };
}

function matchWord(word: string, text: string): { score: number; marks: [number, number][] } | undefined {
  const whole = findWhole(word, text);
  if (whole !== undefined) {
    const isStart = isWordStart(text, whole);
    return {
      score: (isStart ? 100 : 60) - Math.min(20, whole / 5) + word.length,
      marks: [[whole, whole + word.length]],
    };
  }
  return matchLetters(word, text);
}

/** Where the word is, preferably at the start of a word. */
function findWhole(word: string, text: string): number | undefined {
  let first: number | undefined;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (isWordStart(text, at)) return at;
    first ??= at;
  }
  return first;
}

/** Every letter in its order, with gaps between them. */
function matchLetters(word: string, text: string): { score: number; marks: [number, number][] } | undefined {
  if (word.length < 2) return undefined;
  const marks: [number, number][] = [];
  let score = 0;
  let from = 0;
  for (const letter of word) {
    const at = text.indexOf(letter, from);
    if (at < 0) return undefined;
    score += at === from || isWordStart(text, at) ? 6 : -1;
    marks.push([at, at + letter.length]);
    from = at + letter.length;
  }
  // Letters that are scattered over the text fit by chance.
  return score > 0 ? { score, marks } : undefined;
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || WORD_START.test(text.charAt(at - 1));
}

function join(marks: readonly [number, number][]): [number, number][] {
  const joined: [number, number][] = [];
  for (const [start, end] of marks.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}
