// `rlm doctor`: prints what it found on this machine, and the fix for each problem.

import type { EnvironmentName } from "../../environments/registry.ts";
import { toTerminalText } from "../../util/text/terminal-text.ts";
import { findings } from "./checks.ts";
import type { Finding } from "./finding.ts";
import { EXIT } from "../exit-code.ts";
import { terminalWidth } from "../io/table.ts";
import { wrapWords } from "../io/wrap-words.ts";

const MAX_CHARACTERS = 1000;
/** Of the texts: the width of the status and the check before them. */
const INDENT = 19;

export interface DoctorArguments {
  readonly env?: EnvironmentName;
  readonly json?: true;
}

/** The exit code is 0 if sessions work here, else 1. */
export async function doctor({ env, json }: DoctorArguments): Promise<number> {
  const all: Finding[] = [];
  for await (const finding of findings(env)) {
    all.push(finding);
    if (!json) process.stdout.write(toLines(finding));
  }
  const usable = all.every(({ status }) => status !== "fail");
  if (json) process.stdout.write(`${JSON.stringify({ usable, findings: all })}\n`);
  else process.stdout.write(usable ? "\nSessions can be used here.\n" : "\nSessions cannot be used here yet.\n");
  return usable ? EXIT.ok : EXIT.error;
}

/** On a terminal, long texts continue below their beginning. */
export function toLines({ check, status, found, fix }: Finding, width = terminalWidth()): string {
  const texts = fix === undefined ? [found] : [found, `fix: ${fix}`];
  const lines = texts.flatMap((text) => wrapWords(toLine(text), width - INDENT));
  const [first = "", ...rest] = lines;
  return [
    `${status.padEnd(4)}  ${check.padEnd(11)}  ${first}`,
    ...rest.map((line) => " ".repeat(INDENT) + line),
    "",
  ].join("\n");
}

/** A configuration may contain anything: keep it on one line and without terminal commands. */
function toLine(text: string): string {
  return toTerminalText(text.slice(0, MAX_CHARACTERS)).replaceAll(/\s*[\r\n]+\s*/g, " ");
}
