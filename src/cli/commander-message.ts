// Commander's complaints in our form: one line, a suggestion where there is one, and where to read on.

import type { Command, CommanderError } from "commander";

/** Undefined when the help text has said it all. */
export function toUsageLine(error: CommanderError, program: Command, args: readonly string[]): string | undefined {
  if (error.code === "commander.help") return undefined;
  const command = program.commands.find((known) => known.name() === args[0]);
  const [problem = "", suggestion = ""] = error.message.replace(/^error: /, "").split("\n");
  const similar = /^\(Did you mean (?:one of )?(?<names>.+)\?\)$/.exec(suggestion)?.groups?.["names"];
  const own = error.code === "commander.unknownOption" && command?.name() === "exec";
  return [
    problem.replace(/\.$/, ""),
    ...(similar === undefined ? [] : [`Did you mean ${quoteEach(similar)}?`]),
    ...(own ? ["The program's own options go after '--'"] : []),
    `Run 'rlm ${command === undefined ? "" : `${command.name()} `}--help'`,
  ].reduce((line, part) => `${line}${line.endsWith("?") ? " " : ". "}${part}`);
}

function quoteEach(names: string): string {
  return names
    .split(", ")
    .map((name) => `'${name}'`)
    .join(" or ");
}
