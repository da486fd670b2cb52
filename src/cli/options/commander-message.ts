// Commander's errors in our form: one line with a suggestion and the command that prints help.

import type { Command, CommanderError } from "commander";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { findCommand } from "./find-command.ts";

/** Commands that pass options on to another program. */
const PASSED_ON: Readonly<Record<string, string>> = {
  exec: "The program's own options",
  "mcp install": "Options of the server",
};

/** Undefined if the help text was printed instead. */
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
    ...(similar === undefined ? [] : [`Did you mean '${similar.replaceAll(", ", "' or '")}'?`]),
    ...(passedOn === undefined ? [] : [`${passedOn} go after '--'`]),
    `Run '${["rlm", ...names, "--help"].join(" ")}'`,
  ].reduce((line, part) => `${line}${line.endsWith("?") ? " " : ". "}${part}`);
}

/** An unexpected argument of a command that has subcommands is an unknown subcommand. */
function toMessage(
  { code, message }: CommanderError,
  program: Command,
  args: readonly string[],
  names: readonly string[],
): string {
  const group = names.reduce((within, name) => findCommand(within, name) ?? within, program);
  const word = args[names.length];
  if (code !== "commander.excessArguments" || group.commands.length === 0 || word?.startsWith("-") !== false)
    return message;
  const similar = didYouMean(
    word,
    group.commands.map((one) => one.name()),
  );
  return `unknown command '${word.slice(0, 100)}'${similar === undefined ? "" : `\n(Did you mean ${similar}?)`}`;
}

/** The names of the command and its subcommand, as far as they exist. */
function toCommandNames(group: Command, [name, ...rest]: readonly string[]): readonly string[] {
  const command = findCommand(group, name);
  return command === undefined ? [] : [command.name(), ...toCommandNames(command, rest)];
}
