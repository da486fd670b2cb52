// `rlm doctor` with its options.

import type { Command } from "commander";
import { endWith } from "../options/action.ts";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .summary("check what this machine offers, and how to repair it")
    .description("Checks Node, Python, the sandbox and what they need, and prints the fix for what is not right.")
    .option("--json", "print the findings as one JSON object, and nothing else")
    .allowExcessArguments(false)
    .action(endWith(async (options: { readonly json?: true }) => (await import("./doctor.ts")).doctor(options)));
}
