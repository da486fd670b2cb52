// The commands of the program as data for the scripts: made from their definitions, so that a new option is completed at once.

import type { Argument, Command, Option } from "commander";
import type { IdKind } from "./kinds.ts";

/** What can follow an option, or be an argument. */
export type Value =
  | { readonly kind: "text" }
  | { readonly kind: "files" }
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  | { readonly kind: "ids"; readonly of: IdKind };

export interface CompletedOption {
  /** Such as `-o` and `--output`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Absent: it takes none, or need not have one. */
  readonly value?: Value;
}

export interface CompletedCommand {
  /** The names that lead to it, such as `sessions open`. Empty: the program itself. */
  readonly path: string;
  /** Other names that lead to it, such as `sessions ls`. */
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly argument: Value;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
}

const PATH = /^(?:path|file|folder|arguments)/i;
const ID = /^ids?\b/i;
const TEXT: Value = { kind: "text" };

/** Every command, outer ones first. What the help text hides is left out. */
export function toCompletedCommands(program: Command): readonly CompletedCommand[] {
  const topLevel = visibleCommands(program).map((command) => command.name());
  return walk(program, [], []).map((one) =>
    one.path === "help" ? { ...one, argument: { kind: "choices", choices: topLevel } } : one,
  );
}

function walk(command: Command, names: readonly string[], aliases: readonly string[]): CompletedCommand[] {
  const group = names[0] ?? "";
  const path = names.join(" ");
  const subcommands = visibleCommands(command);
  const help = command.createHelp();
  const known = new Set([...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]);
  const options = [...known].map((option) => toOption(option, group));
  const own: CompletedCommand = {
    path,
    aliases,
    summary: command.summary() || command.description(),
    options,
    argument: toArgument(command, group, options),
    commands: subcommands.map((sub) => ({ name: sub.name(), summary: sub.summary() || sub.description() })),
  };
  const below = subcommands.flatMap((sub) =>
    walk(
      sub,
      [...names, sub.name()],
      sub.aliases().map((alias) => [...names, alias].join(" ")),
    ),
  );
  return [own, ...below];
}

/** Without the command `help` that commander would add. */
function visibleCommands(command: Command): Command[] {
  const known = new Set(command.commands);
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => known.has(sub));
}

function toOption(option: Option, group: string): CompletedOption {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const { description } = option;
  if (!option.required) return { names, description };
  return {
    names,
    description,
    value: toValue(option.argChoices, /[<[](.*)[>\]]$/.exec(option.flags)?.[1] ?? "", group),
  };
}

/** Words after an option with several values may be further ones, so they are completed as these are. */
function toArgument(command: Command, group: string, options: readonly CompletedOption[]): Value {
  const [first] = command.registeredArguments as Argument[];
  const value = first === undefined ? TEXT : toValue(first.argChoices, first.name(), group);
  const isVariadic = command.options.some(({ variadic }) => variadic);
  const files = options.find((option) => option.value?.kind === "files")?.value;
  return value.kind === "text" && isVariadic && files !== undefined ? files : value;
}

function toValue(choices: readonly string[] | undefined, name: string, group: string): Value {
  if (choices !== undefined) return { kind: "choices", choices };
  if (PATH.test(name)) return { kind: "files" };
  if (!ID.test(name)) return TEXT;
  if (group === "logs" || group === "visualize") return { kind: "ids", of: "runs" };
  return group === "tasks" || group === "sessions" ? { kind: "ids", of: group } : TEXT;
}
