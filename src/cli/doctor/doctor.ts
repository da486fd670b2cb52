// `rlm doctor`: what was found on this machine, and the fix for what is not right.

import type { Capabilities } from "../../environments/capabilities.ts";
import { toTerminalText } from "../../util/text/terminal-text.ts";
import { findings } from "./checks.ts";
import { EXIT } from "../exit-code.ts";

const MAX_CHARACTERS = 1000;

/** Exit code 0 when sessions can be used here, 1 when something stands in the way. */
export async function doctor({ json }: { readonly json?: true }): Promise<number> {
  const all: Finding[] = [];
  for await (const finding of findings()) {
    all.push(finding);
    if (!json) process.stdout.write(toLines(finding));
  }
  const usable = all.every(({ status }) => status !== "fail");
  if (json) process.stdout.write(`${JSON.stringify({ usable, findings: all })}\n`);
  else process.stdout.write(usable ? "\nSessions can be used here.\n" : "\nSessions cannot be used here yet.\n");
  return usable ? EXIT.ok : EXIT.error;
}

export interface Finding {
  readonly check: string;
  /** `warn`: works, and could be better. `fail`: sessions or the server cannot be used until it is fixed. */
  readonly status: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do about it; only where the status is not `ok`. */
  readonly fix?: string;
  /** Of the environment that was tried. */
  readonly capabilities?: Capabilities;
}

function toLines({ check, status, found, fix }: Finding): string {
  const line = `${status.padEnd(4)}  ${check.padEnd(11)}  ${toLine(found)}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(19)}fix: ${toLine(fix)}\n`;
}

/** A configuration may say anything: it cannot become a second line or a command to the terminal. */
function toLine(text: string): string {
  return toTerminalText(text.slice(0, MAX_CHARACTERS)).replaceAll(/\s*[\r\n]+\s*/g, " ");
}
