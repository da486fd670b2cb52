// Markdown to HTML that is not trusted yet.
//
// The time that the parser takes grows with the square of the length of a paragraph, and of the depth of quotes: a text that was written for
// that holds the page up for a minute. A row of a table has as many cells as its head, whatever is written in it, so a few kilobytes can ask
// for millions of cells. Such texts are refused before they are parsed.

import { Lexer, Marked } from "marked";

const MAX_CHARACTERS = 50_000;
/** Of a paragraph, a heading or a cell of a table. */
const MAX_PARAGRAPH = 3_000;
/** Each level is parsed anew. */
const DEEP = /^(?:[ \t]*>){30}|^[ \t]{60}[ \t]*(?:[-+*]|\d+[.)])[ \t]|^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+){30}/m;
/** Of all tables. */
const MAX_CELLS = 10_000;
/** The line below the head of a table, also in a quote. */
const DELIMITERS = /^[ \t>:-]*\|[ \t|:-]*$/;
/** Raw HTML is text here, but for tags like these, which Markdown has no words for. */
const HARMLESS_TAG = /^<\/?(?:br|sub|sup|kbd|b|i|em|strong|hr)\s*\/?>\s*$/i;
const marked = new Marked({ async: false, gfm: true, renderer: { html: ({ text }) => toText(text) } });

/** Undefined: it would take too long, or cannot be parsed. */
export function markdownToHTML(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS || DEEP.test(text) || countCells(text) > MAX_CELLS) return undefined;
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

/** At least as many as the tables of the text have. */
function countCells(text: string): number {
  let [cells, columns] = [0, 0];
  for (const line of text.split(/\r\n?|\n/)) {
    if (DELIMITERS.test(line)) columns = Math.max(columns, line.split("|").length);
    else if (line.trim() === "") columns = 0;
    cells += columns;
  }
  return cells;
}

function toText(html: string): string {
  if (HARMLESS_TAG.test(html)) return html;
  return html.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
