// One line on stderr about what went wrong.

import { toTerminalText } from "../../util/text/terminal-text.ts";

/** Whatever the message quotes cannot become a second line or a command to the terminal. */
export function printError(message: string): void {
  const line = toTerminalText(message)
    .trim()
    .replaceAll(/\s*[\r\n]+\s*/g, " ");
  process.stderr.write(`rlm: ${line.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}\n`);
}
