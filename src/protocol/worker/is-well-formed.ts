/** Whether the text has no half of a character (a lone surrogate), so that UTF-8 can express it. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
