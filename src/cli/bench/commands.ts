// `rlm bench` with its options.

import type { Command } from "commander";
import { exitWith } from "../options/action.ts";
import type { BenchArguments } from "./bench.ts";

export function addBench(program: Command): void {
  program
    .command("bench")
    .summary("measure how fast sessions are on this machine")
    .description("Measures sessions against the least that this machine needs for the like. Takes about 20 seconds.")
    .option("--quick", "about 5 seconds, less exact")
    .option("--json", "print the result as one JSON object, and nothing else")
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      "\nExit codes: 0 everything worked, fast or slow, 1 something failed,\n70 no sandbox, 130 Ctrl-C.",
    )
    .action(exitWith(async (options: BenchArguments) => (await import("./bench.ts")).bench(options)));
}
