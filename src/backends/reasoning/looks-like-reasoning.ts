// Whether a text that came up to the end of a block of code may be reasoning without an opening marker, whose closing one is still to come.

/** Before its first block a model says briefly what it will do. Reasoning goes on for longer. */
const LONG = 800;
/** How models begin to reason, and seldom a reply. */
const BEGINNINGS = [
  "okay\\b|ok,|alright\\b|hmm\\b|wait\\b|so,",
  "the user\\b|user (?:wants|asks|asked)\\b",
  "we (?:need|have) to\\b|we are (?:given|asked)\\b",
  "here's a thinking process|thinking process:",
  "嗯|好的|首先|用户",
];
const BEGINNING = new RegExp(`^\\s*(?:${BEGINNINGS.join("|")})`, "i");

/** Names of open models that always reason, and whose templates write the opening marker. */
const REASONERS = /deepseek-r1|\bqwq|magistral|(?<!non-?)(?:thinking|reason)/i;

export function looksLikeReasoning(text: string, model: string): boolean {
  const fence = text.search(/```|~~~/);
  return fence > LONG || (fence >= 0 && (BEGINNING.test(text) || REASONERS.test(model)));
}
