// `rlm init` and `rlm run` with their options.

import type { Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseSize } from "../options/option-values.ts";
import { addSettingFlags } from "../options/setting-flags.ts";
import type { RunArguments } from "./run.ts";

export function addInit(program: Command): void {
  program
    .command("init")
    .summary("write an rlm.toml to start from")
    .description("Writes an rlm.toml into the current folder that shows every key with its default.")
    .option("--force", "replace an existing file")
    .allowExcessArguments(false)
    .action(endWith(async (options: { readonly force?: true }) => (await import("./init.ts")).init(options)));
}

export function addRun(program: Command): void {
  const run = program
    .command("run")
    .summary("answer a question over any amount of text")
    .description("Gives a question to a model that works on the context with code and queries further models.")
    .usage("[options] QUESTION [--context PATH...]")
    .argument("[question]", "what to answer")
    .option("--context <path...>", "files, folders, globs, or - (standard input)");
  addSettingFlags(run)
    .option("--schema <file>", "JSON Schema for the answer")
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .option("--quiet", "only errors on standard error")
    .option("--demo", "a demonstration without a key or a network")
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .option("--memory <size>", "memory limit of each session, such as 512m or 4g (default: 2g)", parseSize)
    .option("--config <file>", "use this file instead of rlm.toml")
    .option("--server [url]", "ask a running server (default: RLM_URL, else the newest on this machine)")
    .addHelpText("after", RUN_EXAMPLES)
    .allowExcessArguments(false)
    .action(
      exitWith(async (question: string | undefined, options: RunArguments) =>
        options.server === undefined
          ? (await import("./run.ts")).run(question, options)
          : (await import("./server/run-on-server.ts")).runOnServer(question, options),
      ),
    );
}

const RUN_EXAMPLES = `
Examples:
  rlm run --demo
  rlm run "Which errors are new since May?" --context ./logs
  rlm run "Who is owed what?" --context 'mail/*.txt' --schema debts.json --json
  git log -p | rlm run "What changed?" --context - --cost-budget 0.50
  rlm run "Which errors are new?" --context ./logs --server https://box.example

With --server the context is sent to a running 'rlm serve', whose configuration
decides the provider, the keys and where code runs. RLM_TOKEN is its token
(default: the one that 'rlm serve' stores on this machine).

Exit codes: 0 answered, 3 a partial answer at a limit, 1 failed, 130 Ctrl-C,
2 wrong usage, 70 our own failure.`;
