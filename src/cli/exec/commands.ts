// `rlm exec` and `rlm repl` with their options.

import { ENVIRONMENT_NAMES } from "../../environments/registry.ts";
import { Option, type Command } from "commander";
import { exitWith } from "../options/action.ts";
import { collect, parseAssignment, parseSeconds, parseSize } from "../options/option-values.ts";
import type { ExecArguments } from "./exec.ts";
import type { SessionArguments } from "./session-settings.ts";

export function addExec(program: Command): void {
  addSessionOptions(program.command("exec"))
    .summary("run Python code in a sandbox")
    .description("Runs Python code in a sandbox, as `python` would, and forwards its output as it is printed.")
    .usage("[options] (-c CODE | FILE | -) [--] [ARGUMENT...]")
    .argument("[arguments...]", "FILE or - (standard input), then the arguments in sys.argv")
    .option("-c <code>", "the code itself")
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .option("--timeout <seconds>", "stop the code after this long (default: never)", parseSeconds)
    .addOption(new Option("--allow-net <host>").hideHelp())
    .addHelpText("after", EXEC_EXAMPLES)
    .action(
      exitWith(async (args: string[], options: ExecArguments) => (await import("./exec.ts")).exec(args, options)),
    );
}

export function addRepl(program: Command): void {
  addSessionOptions(program.command("repl"))
    .summary("a Python console in a sandbox")
    .description("A Python console on a sandboxed session: history, completion, images, :help for its commands.")
    .usage("[options] [FILE]")
    .argument("[file]", "code to run first")
    .option("--timeout <seconds>", "stop each piece of code after this long (default: never)", parseSeconds)
    .allowExcessArguments(false)
    .action(
      exitWith(async (file: string | undefined, options: SessionArguments) =>
        (await import("../repl/repl.ts")).repl(file, options),
      ),
    );
}

function addSessionOptions(command: Command): Command {
  return command
    .option("-e <KEY=VALUE>", "set an environment variable; may be repeated", collect(parseAssignment))
    .option(
      "--mount <PATH[:ro|rw]>",
      "mount a folder of this machine, read-only unless :rw, also at its name; may be repeated",
      collect(String),
    )
    .option("--cwd <path>", "where the code starts: in a mounted folder, or in the session")
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .option("--memory <size>", "memory limit, such as 512m or 4g (default: 2g)", parseSize)
    .option("--session-file <path>", "load the state from this file, and save it there at the end")
    .addOption(new Option("--env <name>", "where to run it (default: local)").choices(ENVIRONMENT_NAMES))
    .option("--config <file>", "use this file instead of rlm.toml");
}

const EXEC_EXAMPLES = `
Examples:
  rlm exec -c 'print(6*7)'
  rlm exec report.py 2024 --mount ./data --timeout 60
  rlm exec report.py -- --verbose      options after -- belong to the program
  echo 'print(1)' | rlm exec - --json

Exit codes: 0 ok, 1 the code raised, n for exit(n), 124 time limit,
130 Ctrl-C, 2 wrong usage, 70 our own failure.`;
