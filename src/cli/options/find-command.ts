import type { Command } from "commander";

/** The subcommand of this name or alias. */
export function findCommand(group: Command, name: string | undefined): Command | undefined {
  return group.commands.find((known) => known.name() === name || known.aliases().some((alias) => alias === name));
}
