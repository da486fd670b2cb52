// `rlm sessions` and `rlm tasks` with their options.

import type { Command } from "commander";
import { exitWith } from "../options/action.ts";
import { collect, parseAssignment, parseSeconds } from "../options/option-values.ts";
import type { JSONArguments, OpenArguments } from "./sessions.ts";
import type { SessionExecArguments } from "./sessions-exec.ts";
import type { OutputArguments, StartArguments } from "./tasks.ts";

const JSON_OPTION = ["--json", "print JSON, and nothing else"] as const;

export function addSessions(program: Command): void {
  const list = exitWith(async (options: JSONArguments) => (await import("./sessions.ts")).listSessions(options));
  const sessions = addGroup(program, "sessions")
    .summary("list and use the sessions of a running server")
    .description("Lists the sessions of a running `rlm serve`.")
    .usage("[--json] | rlm sessions COMMAND")
    .addHelpText("after", SESSIONS_EXAMPLES)
    .action(list);
  addList(sessions, "list the sessions", list);
  sessions
    .command("open")
    .summary("open a session, and print its id")
    .option("--id <id>", "its id (default: a random one)")
    .option("-e <KEY=VALUE>", "set an environment variable; may be repeated", collect(parseAssignment))
    .option("--idle-timeout <seconds>", "close it after this long without use; 0: never (default: 300)", parseSeconds)
    .option(...JSON_OPTION)
    .allowExcessArguments(false)
    .action(exitWith(async (options: OpenArguments) => (await import("./sessions.ts")).openSession(options)));
  addWithId(sessions, "show", "show a session", async (...args) =>
    (await import("./sessions.ts")).showSession(...args),
  );
  sessions
    .command("exec")
    .summary("execute code in a session")
    .description("Executes code in a session, which keeps its state. Output and exit codes are as with `rlm exec`.")
    .usage("[options] ID (-c CODE | FILE | -)")
    .argument("<id>", "its id")
    .argument("[arguments...]", "FILE, or - for standard input")
    .option("-c <code>", "the code itself")
    .option("--timeout <seconds>", "stop the code after this long (default: never)", parseSeconds)
    .option("-e <KEY=VALUE>", "an environment variable for this code only; may be repeated", collect(parseAssignment))
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .action(
      exitWith(async (id: string, args: string[], options: SessionExecArguments) =>
        (await import("./sessions-exec.ts")).execInSession(id, args, options),
      ),
    );
  addWithId(sessions, "interrupt", "interrupt the execution in a session, like Ctrl-C", async (...args) =>
    (await import("./sessions.ts")).interruptSession(...args),
  );
  sessions
    .command("close")
    .summary("close sessions")
    .argument("<ids...>", "their ids")
    .option(...JSON_OPTION)
    .action(
      exitWith(async (ids: string[], options: JSONArguments) =>
        (await import("./sessions.ts")).closeSessions(ids, options),
      ),
    );
}

export function addTasks(program: Command): void {
  const list = exitWith(async (options: JSONArguments) => (await import("./tasks.ts")).listTasks(options));
  const tasks = addGroup(program, "tasks")
    .summary("list and control the tasks of a running server")
    .description("Lists the tasks of a running `rlm serve`: shell commands, and executions and runs that became tasks.")
    .usage("[--json] | rlm tasks COMMAND")
    .addHelpText("after", TASKS_EXAMPLES)
    .action(list);
  addList(tasks, "list the tasks", list);
  tasks
    .command("start")
    .summary("start a command, and print the id of its task")
    .usage("[options] -- COMMAND [ARGUMENT...]")
    .argument("<command...>", "a line for bash, or a command and its arguments")
    .option("--session <id>", "the session whose sandbox and files it uses (default: default)")
    .option("--cwd <path>", "working directory, relative to the session's")
    .option("--timeout <seconds>", "kill it after this long (default: never)", parseSeconds)
    .option("-e <KEY=VALUE>", "set an environment variable; may be repeated", collect(parseAssignment))
    .option(...JSON_OPTION)
    .action(
      exitWith(async (words: string[], options: StartArguments) =>
        (await import("./tasks.ts")).startTask(words, options),
      ),
    );
  addWithId(tasks, "show", "show a task", async (...args) => (await import("./tasks.ts")).showTask(...args));
  tasks
    .command("output")
    .summary("print the output of a task")
    .argument("<id>", "its id")
    .option("--follow", "continue until the task ends, with standard error separate")
    .allowExcessArguments(false)
    .action(
      exitWith(async (id: string, options: OutputArguments) =>
        (await import("./tasks.ts")).printTaskOutput(id, options),
      ),
    );
  for (const [what, summary] of CHANGES) {
    addWithId(tasks, what, summary, async (...args) => (await import("./tasks.ts")).changeTask(what, ...args));
  }
}

const CHANGES = [
  ["cancel", "kill a task and all its processes"],
  ["pause", "pause all processes of a task"],
  ["resume", "resume a task"],
] as const;

/** The same as the group without a subcommand. */
function addList(group: Command, summary: string, list: (...args: unknown[]) => Promise<void>): void {
  group
    .command("list")
    .alias("ls")
    .summary(summary)
    .option(...JSON_OPTION)
    .allowExcessArguments(false)
    .action(list);
}

/** A command whose only argument is an id. */
function addWithId(
  group: Command,
  name: string,
  summary: string,
  run: (id: string, options: JSONArguments) => Promise<number>,
): void {
  group
    .command(name)
    .summary(summary)
    .argument("<id>", "its id")
    .option(...JSON_OPTION)
    .allowExcessArguments(false)
    .action(exitWith(run));
}

function addGroup(program: Command, name: string): Command {
  return program
    .command(name)
    .option(...JSON_OPTION)
    .enablePositionalOptions() // so that --json after a subcommand belongs to it
    .helpCommand(false)
    .allowExcessArguments(false);
}

const WHERE = `RLM_URL is the server (default: the newest that runs on this machine),
RLM_TOKEN its token (default: the one that 'rlm serve' stores on this machine).`;

const SESSIONS_EXAMPLES = `
Examples:
  rlm sessions
  id=$(rlm sessions open)
  rlm sessions exec $id -c 'print(6*7)'
  rlm sessions close $id

${WHERE}`;

const TASKS_EXAMPLES = `
Examples:
  rlm tasks
  id=$(rlm tasks start -- 'make all > log 2>&1; tail log')
  rlm tasks output $id --follow
  rlm tasks cancel $id

${WHERE}`;
