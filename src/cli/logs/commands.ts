// `rlm logs` with its options.

import type { Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseCount } from "../options/option-values.ts";
import type { ListArguments, ShowArguments } from "./logs.ts";

export function addLogs(program: Command): void {
  const logs = program
    .command("logs")
    .summary("the runs that were recorded, and what happened in them")
    .description("Lists the runs that were recorded, the latest first.")
    .usage("[options] | rlm logs show ID [options]")
    .option("-n, --number <count>", "how many; 0 for all", parseCount, 20)
    .option("--json", "print them as one JSON object, and nothing else")
    .enablePositionalOptions() // so that --json after `show` belongs to it
    .helpCommand(false)
    .allowExcessArguments(false)
    .addHelpText("after", EXAMPLES)
    .action(endWith(async (options: ListArguments) => (await import("./logs.ts")).listLogs(options)));
  logs
    .command("show")
    .summary("what happened in one run")
    .description("Shows a run as a tree: its nodes, what they were told, wrote and spent.")
    .argument("<id>", "the id of a run, or how it begins")
    .option("--full", "every text whole, and what the model was told")
    .option("--follow", "go on as long as the run does")
    .option("--json", "print the events, each as one line of JSON, and nothing else")
    .allowExcessArguments(false)
    .action(exitWith(async (id: string, options: ShowArguments) => (await import("./logs.ts")).showLog(id, options)));
}

const EXAMPLES = `
Examples:
  rlm logs -n 5
  rlm logs show r-3f                   the beginning of an id is enough
  rlm logs show r-3f --follow
  rlm logs show r-3f --json | jq 'select(.type == "model-call-end") | .usage.costUsd'`;
