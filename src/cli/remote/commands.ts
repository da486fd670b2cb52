// `rlm sessions` and `rlm tasks` with their options. What they do is imported when they are asked for. They end the process
// themselves, since a connection to the server may be open still.

import type { Command } from "commander";
import { collect, parseAssignment, parseSeconds } from "../options/option-values.ts";
import type { JSONArguments, OpenArguments } from "./sessions.ts";
import type { SessionExecArguments } from "./sessions-exec.ts";
import type { OutputArguments, StartArguments } from "./tasks.ts";

const JSON_OPTION = ["--json", "print JSON, and nothing else"] as const;

export function addSessions(program: Command): void {
  const sessions = addGroup(program, "sessions")
    .summary("the sessions of a running server")
    .description("Lists the sessions of a running `rlm serve`.")
    .usage("[--json] | rlm sessions COMMAND")
    .addHelpText("after", SESSIONS_EXAMPLES)
    .action(async (_: JSONArguments, command: Command) => {
      const { listSessions } = await import("./sessions.ts");
      process.exit(await listSessions(command.optsWithGlobals<JSONArguments>()));
    });
  sessions
    .command("open")
    .summary("open one, and print its id")
    .option("--id <id>", "what to call it (default: one that nobody guesses)")
    .option("-e <KEY=VALUE>", "set an environment variable; may be repeated", collect(parseAssignment))
    .option("--idle-timeout <seconds>", "close it after so long without use; 0: never (default: 300)", parseSeconds)
    .option(...JSON_OPTION)
    .allowExcessArguments(false)
    .action(async (_: OpenArguments, command: Command) => {
      const { openSession } = await import("./sessions.ts");
      process.exit(await openSession(command.optsWithGlobals<OpenArguments>()));
    });
  addForOne(sessions, "show", "what is known of one", async (...given) => {
    const { showSession } = await import("./sessions.ts");
    return showSession(...given);
  });
  sessions
    .command("exec")
    .summary("execute code in one")
    .description("Executes code in a session, which keeps its state. Output and exit codes are those of `rlm exec`.")
    .usage("[options] ID (-c CODE | FILE | -)")
    .argument("<id>", "its id")
    .argument("[arguments...]", "FILE, or - for standard input")
    .option("-c <code>", "the code itself")
    .option("--timeout <seconds>", "stop the code after this long (default: never)", parseSeconds)
    .option("-e <KEY=VALUE>", "an environment variable for this code alone; may be repeated", collect(parseAssignment))
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .action(async (id: string, args: string[], _: SessionExecArguments, command: Command) => {
      const { execInSession } = await import("./sessions-exec.ts");
      process.exit(await execInSession(id, args, command.optsWithGlobals<SessionExecArguments>()));
    });
  addForOne(sessions, "interrupt", "interrupt what runs in one, as Ctrl-C would", async (...given) => {
    const { interruptSession } = await import("./sessions.ts");
    return interruptSession(...given);
  });
  sessions
    .command("close")
    .summary("close some, and everything in them")
    .argument("<ids...>", "their ids")
    .option(...JSON_OPTION)
    .action(async (ids: string[], _: JSONArguments, command: Command) => {
      const { closeSessions } = await import("./sessions.ts");
      process.exit(await closeSessions(ids, command.optsWithGlobals<JSONArguments>()));
    });
}

export function addTasks(program: Command): void {
  const tasks = addGroup(program, "tasks")
    .summary("the shell commands of a running server")
    .description("Lists the tasks of a running `rlm serve`: shell commands, and runs and executions that became tasks.")
    .usage("[--json] | rlm tasks COMMAND")
    .addHelpText("after", TASKS_EXAMPLES)
    .action(async (_: JSONArguments, command: Command) => {
      const { listTasks } = await import("./tasks.ts");
      process.exit(await listTasks(command.optsWithGlobals<JSONArguments>()));
    });
  tasks
    .command("start")
    .summary("start a command, and print the id of its task")
    .usage("[options] -- COMMAND [ARGUMENT...]")
    .argument("<command...>", "a line for bash, or a command and its arguments")
    .option("--session <id>", "in whose files and behind whose walls (default: default)")
    .option("--cwd <path>", "where it starts, relative to the session's working directory")
    .option("--timeout <seconds>", "end it after this long (default: never)", parseSeconds)
    .option("-e <KEY=VALUE>", "set an environment variable; may be repeated", collect(parseAssignment))
    .option(...JSON_OPTION)
    .action(async (words: string[], _: StartArguments, command: Command) => {
      const { startTask } = await import("./tasks.ts");
      process.exit(await startTask(words, command.optsWithGlobals<StartArguments>()));
    });
  addForOne(tasks, "show", "what is known of one", async (...given) => {
    const { showTask } = await import("./tasks.ts");
    return showTask(...given);
  });
  tasks
    .command("output")
    .summary("what one has printed")
    .argument("<id>", "its id")
    .option("--follow", "go on as long as the task does, standard error apart")
    .allowExcessArguments(false)
    .action(async (id: string, _: OutputArguments, command: Command) => {
      const { printTaskOutput } = await import("./tasks.ts");
      process.exit(await printTaskOutput(id, command.optsWithGlobals<OutputArguments>()));
    });
  for (const [what, summary] of CHANGES) {
    addForOne(tasks, what, summary, async (...given) => {
      const { changeTask } = await import("./tasks.ts");
      return changeTask(what, ...given);
    });
  }
}

const CHANGES = [
  ["cancel", "end one, with every process that it started"],
  ["pause", "hold every process of one"],
  ["resume", "let one go on"],
] as const;

/** A command about one of them, by its id. */
function addForOne(
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
    .action(async (id: string, _: JSONArguments, command: Command) => {
      process.exit(await run(id, command.optsWithGlobals<JSONArguments>()));
    });
}

function addGroup(program: Command, name: string): Command {
  return program
    .command(name)
    .option(...JSON_OPTION)
    .enablePositionalOptions() // so that --json after a command is its own
    .helpCommand(false)
    .allowExcessArguments(false);
}

const WHERE = `RLM_URL names the server (default: http://127.0.0.1:8000), RLM_TOKEN the token; without it the one that
'rlm serve' keeps on this machine is taken.`;

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
