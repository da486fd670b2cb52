// `rlm help` and `rlm version`.

import type { Command } from "commander";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { VERSION } from "../../util/version.ts";
import { endWith } from "../options/action.ts";
import { findCommand } from "../options/find-command.ts";
import { UsageError } from "../options/usage-error.ts";
import { EXIT } from "../exit-code.ts";

export function addHelp(program: Command): void {
  program
    .command("help")
    .summary("print the help of a command")
    .description("Prints the help of a command, or of rlm.")
    .argument("[command...]", "such as 'exec' or 'sessions open'")
    .action(
      endWith((names: string[]) => {
        names.reduce(enter, program).outputHelp();
        return EXIT.ok;
      }),
    );
}

export function addVersion(program: Command): void {
  program
    .command("version")
    .summary("print the version")
    .description("Prints the version and nothing else, as `rlm --version` does.")
    .allowExcessArguments(false)
    .action(
      endWith(() => {
        process.stdout.write(`${VERSION}\n`);
        return EXIT.ok;
      }),
    );
}

function enter(group: Command, name: string): Command {
  const command = findCommand(group, name);
  if (command !== undefined) return command;
  const similar = didYouMean(
    name,
    group.commands.map((known) => known.name()),
  );
  const suggestion = similar === undefined ? "" : `. Did you mean '${similar}'?`;
  throw new UsageError(
    `there is no help for '${name.slice(0, 100)}'${suggestion || ". Run 'rlm help' to see the commands"}`,
  );
}
