// How wide text is on a terminal: by what a reader takes for a character, marks and joined emoji included.

const SEGMENTER = new Intl.Segmenter("en", { granularity: "grapheme" });
const PLAIN = /^[\u0020-\u007E\n]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11FF]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;
/** East Asian wide and full-width. */
const WIDE =
  /^[\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18CFF}\u{1AFF0}-\u{1B2FB}\u{1F200}-\u{1F2FF}\u{20000}-\u{3FFFD}]/u;

/** The characters as a reader counts them. */
export function toGraphemes(text: string): string[] {
  if (PLAIN.test(text)) return text.split("");
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** The number of columns that one of them takes: 0, 1 or 2. */
export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= " " && grapheme <= "~") return 1;
  if (INVISIBLE.test(grapheme)) return 0;
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

export function textWidth(text: string): number {
  return toGraphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}
