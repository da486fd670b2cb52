// `rlm doctor`: prints what it found on this machine, and the fix for each problem.

import { toTerminalText } from "../../util/text/terminal-text.ts";
import { findings } from "./checks.ts";
import type { Finding } from "./finding.ts";
import { EXIT } from "../exit-code.ts";

const MAX_CHARACTERS = 1000;

/** The exit code is 0 if sessions work here, else 1. */
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

function toLines({ check, status, found, fix }: Finding): string {
  const line = `${status.padEnd(4)}  ${check.padEnd(11)}  ${toLine(found)}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(19)}fix: ${toLine(fix)}\n`;
}

/** A configuration may contain anything: keep it on one line and without terminal commands. */
function toLine(text: string): string {
  return toTerminalText(text.slice(0, MAX_CHARACTERS)).replaceAll(/\s*[\r\n]+\s*/g, " ");
}
