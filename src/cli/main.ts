// The program: its commands, and one line on stderr for whatever goes wrong.
//
// Each folder declares its commands in `commands.ts`. What they do is imported when they run, so that no command pays for
// another.

import { Command, CommanderError } from "commander";
import { VERSION } from "../util/version.ts";
import { addBench } from "./bench/commands.ts";
import { addCompletion } from "./completion/commands.ts";
import { addConfig } from "./config/commands.ts";
import { addDoctor } from "./doctor/commands.ts";
import { addEnv } from "./env/commands.ts";
import { addExec, addRepl } from "./exec/commands.ts";
import { EXIT, fromError } from "./exit-code.ts";
import { addHelp, addVersion } from "./help/commands.ts";
import { printError } from "./io/print-error.ts";
import { addLogOptions, isLogOption } from "./log/log-options.ts";
import { addLogs } from "./logs/commands.ts";
import { addMCP } from "./mcp-install/commands.ts";
import { toUsageLine } from "./options/commander-message.ts";
import { addSessions, addTasks } from "./remote/commands.ts";
import { addInit, addRun } from "./run/commands.ts";
import { addMCPServe, addServe } from "./serve/commands.ts";
import { addVisualize } from "./visualize/commands.ts";

/** In the order of the help text. */
const COMMANDS: readonly ((program: Command) => void)[] = [
  addInit,
  addRun,
  addExec,
  addRepl,
  addServe,
  addVisualize,
  addSessions,
  addTasks,
  addMCPServe,
  addLogs,
  addMCP,
  addConfig,
  addEnv,
  addDoctor,
  addBench,
  addCompletion,
  addHelp,
  addVersion,
];

/** Runs one command line and sets the exit code. Never throws. */
export async function main(args: readonly string[]): Promise<void> {
  const program = createProgram();
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {}); // the reader may stop at any time, as `head` does
  try {
    if (args.length === 0) program.help({ error: true });
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = report(error, program, args);
  }
}

function report(error: unknown, program: Command, args: readonly string[]): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    const line = toUsageLine(error, program, args);
    if (line !== undefined) printError(line);
    return EXIT.usage;
  }
  const isOutOfFiles = ["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
  printError(isOutOfFiles ? "too many files are open. Raise the limit: ulimit -n 1024" : error);
  return fromError(error);
}

/** All commands with their options; parsing a command line runs one. */
export function createProgram(): Command {
  const program: Command = new Command("rlm")
    .description("Persistent, sandboxed Python for language models and the programs that drive them.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand(false)
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (command) => (command === program ? [] : program.options.filter(isLogOption)),
      subcommandTerm: toTerm,
    })
    .configureOutput({ outputError: () => {} }) // report() prints one line instead
    .exitOverride()
    .addHelpText("after", EXAMPLES);
  addLogOptions(program);
  for (const add of COMMANDS) add(program);
  return program;
}

/** Without "[options]", which would leave no room for the summary of a command with several arguments. */
function toTerm(command: Command): string {
  const names = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...names].join(" ");
}

const EXAMPLES = `
Examples:
  rlm run --demo               a question over a long text, without a key
  rlm exec -c 'print(6*7)'     run code
  rlm repl                     a console
  rlm serve                    serve over HTTP
  rlm visualize                its page in a browser
  rlm sessions                 its sessions
  rlm mcp-serve                serve to an MCP client
  rlm logs                     the runs so far
  rlm mcp install cursor       add that server to an MCP client
  rlm config show              every setting, and where it comes from
  rlm env add docker           get an image for --env docker
  rlm doctor                   check this machine
  rlm bench                    measure its speed

'rlm help COMMAND' has more.`;
