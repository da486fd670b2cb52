// How many columns text takes on a terminal. Counts graphemes, so combining marks and joined emoji are one character.

import { eastAsianWidth } from "get-east-asian-width";

const SEGMENTER = new Intl.Segmenter("en", { granularity: "grapheme" });
const PLAIN = /^[\u0020-\u007E\n]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11FF]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;

export function toGraphemes(text: string): string[] {
  if (PLAIN.test(text)) return text.split("");
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** 0, 1 or 2 columns. */
export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= " " && grapheme <= "~") return 1;
  if (INVISIBLE.test(grapheme)) return 0;
  return EMOJI.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

export function textWidth(text: string): number {
  return toGraphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** The text, or as much of it as fits before an ellipsis. */
export function truncateToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const grapheme of toGraphemes(text)) {
    width += graphemeWidth(grapheme);
    if (width >= columns) break;
    kept += grapheme;
  }
  return `${kept}…`;
}
