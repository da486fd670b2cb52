// Markdown to HTML that is not trusted yet.
//
// The time that the parser takes grows with the square of the length of a paragraph, and of the depth of quotes: a text that was written for
// that holds the page up for a minute. Such texts are refused before they are parsed.

import { Lexer, Marked } from "marked";

const MAX_CHARACTERS = 50_000;
/** Of a paragraph, a heading or a cell of a table. */
const MAX_PARAGRAPH = 3_000;
/** Each level is parsed anew. */
const DEEP = /^(?:[ \t]*>){30}|^[ \t]{60}[ \t]*(?:[-+*]|\d+[.)])[ \t]|^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+){30}/m;
/** Raw HTML is text here, but for tags like these, which Markdown has no words for. */
const HARMLESS_TAG = /^<\/?(?:br|sub|sup|kbd|b|i|em|strong|hr)\s*\/?>\s*$/i;
const marked = new Marked({ async: false, gfm: true, renderer: { html: ({ text }) => toText(text) } });

/** Undefined: it would take too long, or cannot be parsed. */
export function markdownToHTML(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS || DEEP.test(text)) return undefined;
  try {
    const lexer = new Lexer(marked.defaults);
    lexer.blockTokens(text.replaceAll(/\r\n?/g, "\n"), lexer.tokens);
    if (lexer.inlineQueue.some(({ src }) => src.length > MAX_PARAGRAPH)) return undefined;
    for (const { src, tokens } of lexer.inlineQueue) lexer.inlineTokens(src, tokens);
    return marked.parser(lexer.tokens);
  } catch {
    return undefined;
  }
}

function toText(html: string): string {
  if (HARMLESS_TAG.test(html)) return html;
  return html.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
