// `rlm doctor`: prints what it found on this machine, and the fix for each problem.

import type { Capabilities } from "../../protocol/capabilities.ts";
import { toTerminalText } from "../../util/text/terminal-text.ts";
import { findings } from "./checks.ts";
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

export interface Finding {
  readonly check: string;
  /** `warn`: it works, but could be better. `fail`: sessions or the server do not work until it is fixed. */
  readonly status: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do; only if the status is not `ok`. */
  readonly fix?: string;
  /** Of the environment that was tried. */
  readonly capabilities?: Capabilities;
}

function toLines({ check, status, found, fix }: Finding): string {
  const line = `${status.padEnd(4)}  ${check.padEnd(11)}  ${toLine(found)}\n`;
  return fix === undefined ? line : `${line}${" ".repeat(19)}fix: ${toLine(fix)}\n`;
}

/** A configuration may contain anything: keep it on one line and without terminal commands. */
function toLine(text: string): string {
  return toTerminalText(text.slice(0, MAX_CHARACTERS)).replaceAll(/\s*[\r\n]+\s*/g, " ");
}
