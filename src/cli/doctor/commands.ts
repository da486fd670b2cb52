// `rlm doctor` with its options.

import { Option, type Command } from "commander";
import { ENVIRONMENT_NAMES } from "../../environments/registry.ts";
import { endWith } from "../options/action.ts";
import type { DoctorArguments } from "./doctor.ts";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .summary("check this machine, and print fixes for problems")
    .description("Checks Node, Python, the sandbox and their needs, and prints a fix for each problem.")
    .addOption(
      new Option("--env <name>", "try sessions there (default: that of rlm.toml, else local)").choices(
        ENVIRONMENT_NAMES,
      ),
    )
    .option("--json", "print the findings as one JSON object, and nothing else")
    .allowExcessArguments(false)
    .action(endWith(async (options: DoctorArguments) => (await import("./doctor.ts")).doctor(options)));
}
