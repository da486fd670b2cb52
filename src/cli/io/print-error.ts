// One line on stderr about what went wrong.

import { toTerminalText } from "../../util/text/terminal-text.ts";

/** An error or its message. Whatever it quotes cannot become a second line or a terminal command. */
export function printError(error: unknown): void {
  const line = toTerminalText(error instanceof Error ? error.message : String(error))
    .trim()
    .replaceAll(/\s*[\r\n]+\s*/g, " ");
  process.stderr.write(`rlm: ${line.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}\n`);
}

/** With its stack, for an error that is a defect of ours. */
export function printUnexpected(error: unknown): void {
  printError(error instanceof Error ? (error.stack ?? error.message) : error);
}
