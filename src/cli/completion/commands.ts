// `rlm completion` with its options.

import { Argument, type Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseSeconds } from "../options/option-values.ts";
import type { IdsArguments } from "./ids.ts";
import { ID_KINDS, SHELLS, type IdKind, type Shell } from "./kinds.ts";

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .summary("print a script that completes commands in a shell")
    .description("Prints a script with which a shell completes commands, options, files and ids at Tab.")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .allowExcessArguments(false)
    .addHelpText("after", EXAMPLES)
    .action(endWith(async (shell: Shell) => (await import("./completion.ts")).printCompletion(program, shell)));
  // For the scripts: one id per line, and no errors.
  program
    .command("complete-ids", { hidden: true })
    .addArgument(new Argument("<kind>").choices(ID_KINDS))
    .option("--limit <seconds>", "how long a server may take (default: 2)", parseSeconds)
    .action(
      exitWith(async (kind: IdKind, options: IdsArguments) => (await import("./ids.ts")).printIds(kind, options)),
    );
}

const EXAMPLES = `
Examples:
  source <(rlm completion bash)        in this shell
  rlm completion bash > ~/.local/share/bash-completion/completions/rlm
  rlm completion zsh > ~/.zfunc/_rlm   with 'fpath+=(~/.zfunc)' in ~/.zshrc
  rlm completion fish > ~/.config/fish/completions/rlm.fish`;
