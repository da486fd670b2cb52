// Text of the user's material on a line of a prompt.

import { shorten } from "../../util/text/shorten.ts";

/** As JSON, so that it stays inside its quotes, and on one line for every definition of a line end. A lone surrogate is escaped. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007F-\u009F\u2028\u2029]/g, toEscape);
}

function toEscape(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/** A name or a type, without control characters, spaces and backticks. */
export function word(text: string, maxCharacters = 100): string {
  return shorten(text.replaceAll(/[\p{C}\p{Z}`]/gu, ""), maxCharacters);
}

/** Without what would end the line. */
export function onLine(text: string, maxCharacters: number): string {
  return shorten(text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ""), maxCharacters);
}
