// `rlm visualize` with its options.

import type { Command } from "commander";
import { exitWithOwnLog } from "../options/action.ts";
import { parsePort } from "../options/option-values.ts";
import type { VisualizeArguments } from "./visualize.ts";

export function addVisualize(program: Command): void {
  program
    .command("visualize")
    .summary("open the page: sessions, tasks and runs in a browser")
    .description(
      "Opens the page of the running server in a browser. Where no server runs, starts one until Ctrl-C. Without a browser, prints the link.",
    )
    .argument("[id]", "the id of a run to show, its beginning, or 'last'")
    .option("--no-open", "print the link, and open nothing")
    .option(
      "--port <number>",
      "of a server that is started; 0 takes any free port (default: 8000, else any)",
      parsePort,
    )
    .option("--config <path>", "use this rlm.toml instead of the one that would be found")
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments(false)
    .action(
      exitWithOwnLog(async (id: string | undefined, options: VisualizeArguments) =>
        (await import("./visualize.ts")).visualize(id, options),
      ),
    );
}

const EXAMPLES = `
Examples:
  rlm visualize
  rlm visualize last
  rlm visualize --no-open

RLM_URL is the server (default: the newest that runs on this machine),
RLM_TOKEN its token (default: the one that 'rlm serve' stores on this machine).`;
