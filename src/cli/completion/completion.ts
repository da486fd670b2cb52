// `rlm completion`: prints the script of one shell.

import type { Command } from "commander";
import { printLines } from "../io/print-lines.ts";
import { toBash } from "./bash.ts";
import { toFish } from "./fish.ts";
import type { Shell } from "./kinds.ts";
import { toCompletedCommands, type CompletedCommand } from "./model.ts";
import { toZsh } from "./zsh.ts";

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = {
  bash: toBash,
  zsh: toZsh,
  fish: toFish,
};

export function printCompletion(program: Command, shell: Shell): Promise<number> {
  return printLines(SCRIPTS[shell](toCompletedCommands(program)));
}
