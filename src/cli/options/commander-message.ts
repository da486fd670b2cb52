// Commander's complaints in our form: one line, a suggestion where there is one, and where to read on.

import type { Command, CommanderError } from "commander";
import { didYouMean } from "../../util/text/did-you-mean.ts";

/** Whose options are not for the command itself. */
const PASSED_ON: Readonly<Record<string, string>> = {
  exec: "The program's own options",
  "mcp install": "Options of the server",
};

/** Undefined when the help text has said it all. */
export function toUsageLine(error: CommanderError, program: Command, args: readonly string[]): string | undefined {
  if (error.code === "commander.help") return undefined;
  const names = toCommandNames(program, args);
  const [problem = "", suggestion = ""] = toMessage(error, program, args, names)
    .replace(/^error: /, "")
    .split("\n");
  const similar = /^\(Did you mean (?:one of )?(?<names>.+)\?\)$/.exec(suggestion)?.groups?.["names"];
  const passedOn = error.code === "commander.unknownOption" ? PASSED_ON[names.join(" ")] : undefined;
  return [
    problem.replace(/\.$/, ""),
    ...(similar === undefined ? [] : [`Did you mean ${quoteEach(similar)}?`]),
    ...(passedOn === undefined ? [] : [`${passedOn} go after '--'`]),
    `Run '${["rlm", ...names, "--help"].join(" ")}'`,
  ].reduce((line, part) => `${line}${line.endsWith("?") ? " " : ". "}${part}`);
}

/** A word after a command that has others in it is meant as one of them. */
function toMessage(
  { code, message }: CommanderError,
  program: Command,
  args: readonly string[],
  names: readonly string[],
): string {
  const group = names.reduce(
    (within, name) => within.commands.find((known) => known.name() === name) ?? within,
    program,
  );
  const word = args[names.length];
  if (code !== "commander.excessArguments" || group.commands.length === 0 || word?.startsWith("-") !== false)
    return message;
  const known = didYouMean(
    word,
    group.commands.map((one) => one.name()),
  );
  return `unknown command '${word.slice(0, 100)}'${known === undefined ? "" : `\n(Did you mean ${known}?)`}`;
}

/** Of the command that was asked for, and the one in it, as far as they are known. */
function toCommandNames(group: Command, [name, ...rest]: readonly string[]): readonly string[] {
  const command = group.commands.find((known) => known.name() === name);
  return command === undefined ? [] : [command.name(), ...toCommandNames(command, rest)];
}

function quoteEach(names: string): string {
  return names
    .split(", ")
    .map((name) => `'${name}'`)
    .join(" or ");
}
