// Blocks in the languages of other programs: a systemd unit, a proxy, a container. Their programs are not here; what they say of `rlm` is
// checked.

import { expect } from "vitest";
import type { Block } from "./blocks.ts";
import { problemsOf } from "./shell-commands.ts";

const COMMAND = /^\s*(?:ExecStart=|CMD |ENTRYPOINT |RUN |command:\s*)(?<command>.*)$/gm;

export function checkConfiguration({ language, text, notRun }: Block): void {
  expect(notRun, "a reason why it is not run").toBeTruthy();
  expect(text.split("\n").filter((line) => !LINES[language]?.test(line))).toEqual([]);
  if (language === "nginx") expect(text.split("{").length).toBe(text.split("}").length);
  const scripts = [...text.matchAll(COMMAND)].map(({ groups }) => toScript(groups?.["command"] ?? ""));
  expect(scripts.flatMap(problemsOf)).toEqual([]);
}

/** What a line of each language looks like. */
const LINES: Readonly<Record<string, RegExp>> = {
  ini: /^(?:\s*|#.*|\[\w+\]|\w+=.*)$/,
  nginx: /^\s*(?:|#.*|\}|[\w$"^/~. -]+\{|\S.*;)$/,
  dockerfile: /^(?:\s*|#.*|\s+\S.*|[A-Z]+ .+)$/,
  yaml: /^\s*(?:|#.*|(?:- )?[\w"./-]+:(?: .*)?|- .+)$/,
};

/** A command as shell code. An array of words is quoted; the folder of a program does not matter. */
function toScript(command: string): string {
  const words = command.startsWith("[") ? (JSON.parse(command) as string[]).map((word) => `'${word}'`) : [command];
  return words.join(" ").replace(/^'?(?:\/[\w.-]+)*\/(?=\w)/, "");
}
