// The script that answers the model calls of the contract's runs: a question says what the model replies.

import type { Script } from "../../backends/scripted/script.ts";

/** The answer where a run has to end early. */
export const BEST_SO_FAR = "the best so far";

/** Questions: `say: text` is answered with the text, `code: python` with a block of code, and `wait` never. */
export const contractScript: Script = ({ messages }) => {
  const last = messages.at(-1)?.content ?? "";
  if (last.includes("has to end here")) return BEST_SO_FAR;
  const text = messages.map(({ content }) => content).join("\n");
  const said = /\bsay: ([^\n]*)/.exec(text)?.[1];
  if (said !== undefined) return said;
  const code = /\bcode: ([^\n]*)/.exec(text)?.[1];
  if (code !== undefined) return `\`\`\`repl\n${code}\n\`\`\``;
  return new Promise(() => {});
};
