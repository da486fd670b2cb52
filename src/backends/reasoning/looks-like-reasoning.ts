// Whether a text that came up to the end of a block of code may be reasoning without an opening marker, whose closing one is still to come.

/** Before its first block a model says briefly what it will do. Reasoning goes on for longer. */
const LONG = 800;
/** How models begin to reason, and seldom a reply. */
const BEGINNING =
  /^\s*(?:okay\b|ok,|alright\b|hmm\b|wait\b|so,|the user\b|we need to\b|we have to\b|we are (?:given|asked)\b)/i;

export function looksLikeReasoning(text: string): boolean {
  const fence = text.search(/```|~~~/);
  return fence > LONG || (fence >= 0 && BEGINNING.test(text));
}
