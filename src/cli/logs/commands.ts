// `rlm logs` with its options.

import type { Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseCount } from "../options/option-values.ts";
import type { ExportArguments } from "./export.ts";
import type { ListArguments, ShowArguments } from "./logs.ts";

export function addLogs(program: Command): void {
  const logs = program
    .command("logs")
    .summary("list the recorded runs, show or export one")
    .description("Lists the recorded runs, the latest first.")
    .usage("[options] | rlm logs COMMAND")
    .option(...NUMBER)
    .option(...JSON_OPTION)
    .enablePositionalOptions() // so that --json after `show` belongs to it
    .helpCommand(false)
    .allowExcessArguments(false)
    .addHelpText("after", EXAMPLES)
    .action(list);
  logs
    .command("list")
    .alias("ls")
    .summary("list the recorded runs")
    .description("Lists the recorded runs, the latest first. So does `rlm logs`.")
    .option(...NUMBER)
    .option(...JSON_OPTION)
    .allowExcessArguments(false)
    .action(list);
  logs
    .command("show")
    .summary("show one run")
    .description("Shows a run as a tree: its nodes with their messages, code, output and usage.")
    .argument("<id>", RUN)
    .option("--full", "every text in full, and the messages to the model")
    .option("--follow", "continue until the run ends")
    .option("--json", "print the events, one JSON object per line, and nothing else")
    .allowExcessArguments(false)
    .action(exitWith(async (id: string, options: ShowArguments) => (await import("./logs.ts")).showLog(id, options)));
  logs
    .command("export")
    .summary("write one run to a file")
    .description("Writes a whole run to one file: its events with their full texts, one JSON object per line.")
    .argument("<id>", RUN)
    .option("-o, --output <file>", "the file, or - for standard output (default: ID.jsonl)")
    .option("--force", "replace an existing file")
    .allowExcessArguments(false)
    .action(
      exitWith(async (id: string, options: ExportArguments) => (await import("./export.ts")).exportLog(id, options)),
    );
}

const RUN = "the id of a run, its beginning, or 'last'";
const NUMBER = ["-n, --number <count>", "how many; 0 for all (default: 20)", parseCount] as const;
const JSON_OPTION = ["--json", "print them as one JSON object, and nothing else"] as const;

const list = endWith(async (options: ListArguments) => (await import("./logs.ts")).listLogs(options));

const EXAMPLES = `
Examples:
  rlm logs -n 5
  rlm logs show r-3f                   the beginning of an id is enough
  rlm logs show last --follow
  rlm logs export last -o run.jsonl
  rlm logs show last --json | jq 'select(.type == "code-start").code'`;
