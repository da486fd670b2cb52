// `rlm doctor` with its options.

import type { Command } from "commander";
import { endWith } from "../options/action.ts";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .summary("check this machine, and print fixes for problems")
    .description("Checks Node, Python, the sandbox and their needs, and prints a fix for each problem.")
    .option("--json", "print the findings as one JSON object, and nothing else")
    .allowExcessArguments(false)
    .action(endWith(async (options: { readonly json?: true }) => (await import("./doctor.ts")).doctor(options)));
}
