// `rlm init` and `rlm run` with their options.

import { ENVIRONMENT_NAMES } from "../../environments/registry.ts";
import { Option, type Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseCountFrom, parseSeconds, parseUSD } from "../options/option-values.ts";
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
  program
    .command("run")
    .summary("answer a question over any amount of text")
    .description("Gives a question to a model that works on the context with code and queries further models.")
    .usage("[options] QUESTION [--context PATH...]")
    .argument("[question]", "what to answer")
    .option("--context <path...>", "files, folders, globs, or - (standard input)")
    .option("--model <name>", "the model that answers")
    .option("--sub-model <name>", "the model that answers llm_query (default: the same)")
    .option("--reasoning-effort <effort>", "how much the model reasons: low, medium, high")
    .option("--backend <name>", "openai, anthropic, openai-compatible, scripted, or one of rlm.toml")
    .option("--base-url <address>", "the address of the provider")
    .addOption(
      new Option("--mode <mode>", "auto: small contexts go directly to the model").choices(["auto", "rlm", "direct"]),
    )
    .option("--max-depth <n>", "how deep rlm_query may go (default: 4)", parseCountFrom(0))
    .option("--max-iterations <n>", "blocks of code per node (default: 30)", parseCountFrom(1))
    .option("--token-budget <n>", "token limit of the whole run", parseCountFrom(1))
    .option("--cost-budget <usd>", "cost limit of the whole run", parseUSD)
    .option("--call-budget <n>", "limit of model calls (default: 1000)", parseCountFrom(1))
    .option("--tool-budget <n>", "limit of tool calls", parseCountFrom(1))
    .option("--timeout <seconds>", "for the whole run; 0 is no limit (default: 1800)", parseSeconds)
    .option("--schema <file>", "JSON Schema for the answer")
    .option("--no-cache", "do not answer from the cache")
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .option("--quiet", "only errors on standard error")
    .option("--demo", "a demonstration without a key or a network")
    .addOption(new Option("--env <name>", "where code runs (default: local)").choices(ENVIRONMENT_NAMES))
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .option("--config <file>", "use this file instead of rlm.toml")
    .option("--server [url]", "ask a running server (default: RLM_URL, else http://127.0.0.1:8000)")
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
  rlm run "Who is owed what?" --context 'mail/**/*.txt' --schema debts.json --json
  git log -p | rlm run "What changed in the parser?" --context - --cost-budget 0.50
  rlm run "Which errors are new since May?" --context ./logs --server https://box.example

With --server the context is sent to a running 'rlm serve', whose configuration decides the provider, the keys and where
code runs. RLM_TOKEN is its token (default: the one that 'rlm serve' stores on this machine).

Exit codes: 0 answered, 3 a partial answer at a limit, 1 failed, 130 Ctrl-C, 2 wrong usage, 70 our own failure.`;
