// `rlm logs` with its options.

import type { Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseCount } from "../options/option-values.ts";
import type { ListArguments, ShowArguments } from "./logs.ts";

export function addLogs(program: Command): void {
  const logs = program
    .command("logs")
    .summary("list the recorded runs, or show one")
    .description("Lists the recorded runs, the latest first.")
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
    .summary("show one run")
    .description("Shows a run as a tree: its nodes with their messages, code, output and usage.")
    .argument("<id>", "the id of a run, or its beginning")
    .option("--full", "every text in full, and the messages to the model")
    .option("--follow", "continue until the run ends")
    .option("--json", "print the events, one JSON object per line, and nothing else")
    .allowExcessArguments(false)
    .action(exitWith(async (id: string, options: ShowArguments) => (await import("./logs.ts")).showLog(id, options)));
}

const EXAMPLES = `
Examples:
  rlm logs -n 5
  rlm logs show r-3f                   the beginning of an id is enough
  rlm logs show r-3f --follow
  rlm logs show r-3f --json | jq 'select(.type == "model-call-end") | .usage.costUsd'`;
