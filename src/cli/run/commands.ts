// `rlm init` and `rlm run` with their options.

import { Option, type Command } from "commander";
import { endWith, exitWith } from "../options/action.ts";
import { parseCountFrom, parseSeconds, parseUSD } from "../options/option-values.ts";
import type { RunArguments } from "./run.ts";

export function addInit(program: Command): void {
  program
    .command("init")
    .summary("write an rlm.toml to begin with")
    .description("Writes an rlm.toml into the current folder that shows every key with its default.")
    .option("--force", "replace one that is there")
    .allowExcessArguments(false)
    .action(endWith(async (options: { readonly force?: true }) => (await import("./init.ts")).init(options)));
}

export function addRun(program: Command): void {
  program
    .command("run")
    .summary("answer a question over any amount of text")
    .description("Gives a question to a model that works on the material with code, and asks further models about it.")
    .usage("[options] QUESTION [--context PATH...]")
    .argument("[question]", "what to answer")
    .option("--context <path...>", "files, folders, globs, or - (standard input)")
    .option("--model <name>", "the model that answers")
    .option("--sub-model <name>", "the model that answers llm_query (default: the same)")
    .option("--reasoning-effort <effort>", "how much models that reason should: low, medium, high")
    .option("--backend <name>", "openai, anthropic, openai-compatible, scripted, or one of rlm.toml")
    .option("--base-url <address>", "another address of the provider")
    .addOption(
      new Option("--mode <mode>", "auto: what is small goes straight to it").choices(["auto", "rlm", "direct"]),
    )
    .option("--max-depth <n>", "how deep rlm_query may go (default: 4)", parseCountFrom(0))
    .option("--max-iterations <n>", "blocks of code that one node may run (default: 30)", parseCountFrom(1))
    .option("--token-budget <n>", "the most tokens, of everything together", parseCountFrom(1))
    .option("--cost-budget <usd>", "the most money", parseUSD)
    .option("--call-budget <n>", "the most calls of models (default: 1000)", parseCountFrom(1))
    .option("--tool-budget <n>", "the most calls of tools", parseCountFrom(1))
    .option("--timeout <seconds>", "for the whole run; 0 is no limit (default: 1800)", parseSeconds)
    .option("--schema <file>", "JSON Schema that the answer must follow")
    .option("--no-cache", "ask again what was asked before")
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .option("--quiet", "nothing on standard error but errors")
    .option("--demo", "show it without a key and without a network")
    .addOption(new Option("--env <name>", "where code runs (default: local)").choices(["local", "docker", "wasm"]))
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .option("--config <file>", "read this in place of rlm.toml")
    .addHelpText("after", RUN_EXAMPLES)
    .allowExcessArguments(false)
    .action(
      exitWith(async (question: string | undefined, options: RunArguments) =>
        (await import("./run.ts")).run(question, options),
      ),
    );
}

const RUN_EXAMPLES = `
Examples:
  rlm run --demo
  rlm run "Which errors are new since May?" --context ./logs
  rlm run "Who is owed what?" --context 'mail/**/*.txt' --schema debts.json --json
  git log -p | rlm run "What changed in the parser?" --context - --cost-budget 0.50

Exit codes: 0 answered, 3 a partial answer at a limit, 1 failed, 130 Ctrl-C, 2 wrong usage, 70 our own failure.`;
