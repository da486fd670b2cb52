// Progress of work that takes long, such as pulling an image: one line on a terminal that is drawn again, then removed.

import { toTerminalText } from "../../util/text/terminal-text.ts";
import { isLiveTerminal } from "./is-live-terminal.ts";

const CLEAR_LINE = "\r\u001B[K";
/** A line without news is removed after this long. */
const SHOWN_MS = 1_500;

/** Undefined where progress is not shown. */
export function progressPrinter(): ((text: string) => void) | undefined {
  if (!isLiveTerminal()) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const clear = (): void => {
    clearTimeout(timer);
    process.stderr.write(CLEAR_LINE);
  };
  return (text) => {
    const width = Math.max(20, (process.stderr.columns || 80) - 1);
    process.stderr.write(`${CLEAR_LINE}${toTerminalText(text).replaceAll(/\s+/g, " ").slice(0, width)}`);
    clearTimeout(timer);
    timer = setTimeout(clear, SHOWN_MS).unref();
    process.once("exit", clear);
  };
}
