// The commands and their options. Each command's own file is imported when it is asked for, so that none pays for another.

import { Command, CommanderError, Option } from "commander";
import { VERSION } from "../util/version.ts";
import { toUsageLine } from "./options/commander-message.ts";
import type { ExecArguments } from "./exec/exec.ts";
import { EXIT, fromError } from "./exit-code.ts";
import type { ListArguments, ShowArguments } from "./logs/logs.ts";
import type { MCPInstallArguments } from "./mcp-install/mcp-install.ts";
import type { MCPServeArguments } from "./serve/mcp-serve.ts";
import { parseAssignment, parseCount, parsePort, parseSeconds, parseSize, collect } from "./options/option-values.ts";
import type { ReplArguments } from "./repl/repl.ts";
import { addInit, addRun } from "./run/commands.ts";
import { addSessions, addTasks } from "./remote/commands.ts";
import type { ServeArguments } from "./serve/serve-settings.ts";
import { printError } from "./io/print-error.ts";

/** Runs one command line and sets the exit code. Never throws. */
export async function main(args: readonly string[]): Promise<void> {
  const program = createProgram();
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {}); // whoever reads it may stop at any time, as `head` does
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
  printError(error instanceof Error ? error.message : String(error));
  return fromError(error);
}

function createProgram(): Command {
  const program = new Command("rlm")
    .description("Persistent, sandboxed Python for language models and the programs that drive them.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ outputError: () => {} }) // said in one line, by report()
    .exitOverride()
    .addHelpText("after", PROGRAM_EXAMPLES);
  addInit(program);
  addRun(program);
  addExec(program);
  addRepl(program);
  addServe(program);
  addSessions(program);
  addTasks(program);
  addMCPServe(program);
  addLogs(program);
  addMCP(program);
  addDoctor(program);
  return program;
}

function addExec(program: Command): void {
  addSessionOptions(program.command("exec"))
    .summary("run Python code in a sandbox")
    .description("Runs Python code in a sandbox, as `python` would: what it prints comes out as it is printed.")
    .usage("[options] (-c CODE | FILE | -) [--] [ARGUMENT...]")
    .argument("[arguments...]", "FILE or - (standard input), then what the program finds in sys.argv")
    .option("-c <code>", "the code itself")
    .option("--json", "print the whole result as one JSON object, and nothing else")
    .option("--timeout <seconds>", "stop the code after this long (default: never)", parseSeconds)
    .addOption(
      new Option("--env <name>", "where to run it").choices(["local", "docker", "wasm"]).default("local", "local"),
    )
    .addOption(new Option("--allow-net <host>").hideHelp())
    .addHelpText("after", EXEC_EXAMPLES)
    .action(async (args: string[], options: ExecArguments) => {
      const { exec } = await import("./exec/exec.ts");
      process.exit(await exec(args, options)); // at once: output that nobody takes would hold it up
    });
}

/** What a session of `exec` and one of `repl` are opened with. */
function addSessionOptions(command: Command): Command {
  return command
    .option("-e <KEY=VALUE>", "set an environment variable; may be repeated", collect(parseAssignment))
    .option(
      "--mount <PATH[:ro|rw]>",
      "show a folder of this machine, read-only unless :rw; may be repeated",
      collect(String),
    )
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .option("--memory <size>", "the most memory it may use, such as 512m or 4g (default: 2g)", parseSize)
    .option("--session-file <path>", "begin with the state in this file, and save it there at the end");
}

function addRepl(program: Command): void {
  addSessionOptions(program.command("repl"))
    .summary("a Python console in a sandbox")
    .description("A Python console on a sandboxed session: history, completion, images, :help for its commands.")
    .usage("[options] [FILE]")
    .argument("[file]", "run this first")
    .option("--timeout <seconds>", "stop each piece of code after this long (default: never)", parseSeconds)
    .allowExcessArguments(false)
    .action(async (file: string | undefined, options: ReplArguments) => {
      const { repl } = await import("./repl/repl.ts");
      process.exit(await repl(file, options));
    });
}

function addServe(program: Command): void {
  program
    .command("serve")
    .summary("serve sessions over HTTP")
    .description("Serves over HTTP, to whoever has the token that it prints.")
    .option("--port <number>", "0 takes any that is free (default: 8000)", parsePort)
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option(
      "--allow-host <name>",
      "a host name clients may use; needed for other addresses; may be repeated",
      collect(String),
    )
    .option("--allow-origin <origin>", "a site whose pages may ask; may be repeated", collect(String))
    .option("--grace <seconds>", "how long what runs may go on after a signal (default: 10)", parseSeconds)
    .option("--config <path>", "this rlm.toml, in place of the one that would be found")
    .option("--tools <choice>", "of /mcp: core, all, or names of tools and groups with commas between (default: all)")
    .option("--structured", "of /mcp: results also as JSON with a schema, for programs")
    .option(
      "--mount <PATH[:ro|rw]>",
      "show a folder to sessions, read-only unless :rw; may be repeated",
      collect(String),
    )
    .addOption(new Option("--log-level <level>", "default: info").choices(["error", "warn", "info", "debug"]))
    .addOption(new Option("--log-format <format>", "default: text on a terminal, else json").choices(["json", "text"]))
    .option("--log-file <path>", "append the log to this file (default: standard error)")
    .addHelpText("after", SERVE_EXAMPLES)
    .allowExcessArguments(false)
    .action(async (options: ServeArguments) => {
      const { serve } = await import("./serve/serve.ts");
      process.exit(await serve(options)); // at once: a log that nobody reads would hold it up
    });
}

function addMCPServe(program: Command): void {
  program
    .command("mcp-serve")
    .summary("serve Python and a shell to an MCP client")
    .description(
      "An MCP server on standard input and output. The folder it is started in is shown to sessions, read-only.",
    )
    .option("--http", "on a port, to whoever has the token, in place of standard input and output")
    .option("--port <number>", "with --http: 0 takes any that is free (default: 8000)", parsePort)
    .option("--host <address>", "with --http: the address to listen on (default: 127.0.0.1)")
    .option(
      "--allow-host <name>",
      "with --http: a host name clients may use; needed for other addresses; may be repeated",
      collect(String),
    )
    .option("--tools <choice>", "core, all, or names of tools and groups with commas between", "all")
    .option("--structured", "results also as JSON with a schema, for programs")
    .option("--mount <PATH[:ro|rw]>", "show another folder, read-only unless :rw; may be repeated", collect(String))
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .addHelpText("after", MCP_EXAMPLES)
    .allowExcessArguments(false)
    .action(async (options: MCPServeArguments) => {
      const { mcpServe } = await import("./serve/mcp-serve.ts");
      process.exit(await mcpServe(options)); // at once: a client may be waiting for that
    });
}

function addLogs(program: Command): void {
  const logs = program
    .command("logs")
    .summary("the runs that were recorded, and what happened in them")
    .description("Lists the runs that were recorded, the latest first.")
    .usage("[options] | rlm logs show ID [options]")
    .option("-n, --number <count>", "how many; 0 for all", parseCount, 20)
    .option("--json", "print them as one JSON object, and nothing else")
    .enablePositionalOptions() // so that --json after `show` is its own
    .helpCommand(false)
    .allowExcessArguments(false)
    .addHelpText("after", LOGS_EXAMPLES)
    .action(async (options: ListArguments) => {
      const { listLogs } = await import("./logs/logs.ts");
      process.exitCode = await listLogs(options);
    });
  logs
    .command("show")
    .summary("what happened in one run")
    .description("Shows a run as a tree: its nodes, what they were told, wrote and spent.")
    .argument("<id>", "the id of a run, or how it begins")
    .option("--full", "every text whole, and what the model was told")
    .option("--follow", "go on as long as the run does")
    .option("--json", "print the events, each as one line of JSON, and nothing else")
    .allowExcessArguments(false)
    .action(async (id: string, _: ShowArguments, command: Command) => {
      const { showLog } = await import("./logs/logs.ts");
      process.exit(await showLog(id, command.optsWithGlobals<ShowArguments>())); // at once: output that nobody takes would hold it up
    });
}

function addMCP(program: Command): void {
  const mcp = program
    .command("mcp")
    .summary("add this program to an MCP client")
    .description("Adds this program to MCP clients. The server itself is `rlm mcp-serve`.")
    .helpCommand(false);
  mcp
    .command("install")
    .summary("write the configuration of an MCP client")
    .description(
      "Writes the configuration of an MCP client, so that the client starts `rlm mcp-serve`. Tries the server " +
        "first, keeps a backup, and changes nothing else in the file.\n" +
        "Clients: claude-code, claude-desktop, cursor, vscode, codex, gemini, zed.",
    )
    .usage("[options] CLIENT [-- OPTION OF MCP-SERVE...]")
    .argument("<client>", "which one")
    .argument("[options...]", "what the client passes to `rlm mcp-serve`")
    .option("--name <name>", "what the client calls the server", "rlm")
    .addOption(
      new Option("--scope <scope>", "for you, or for the project in this folder")
        .choices(["user", "project"])
        .default("user", "user"),
    )
    .option("--print", "show what would be written, and change nothing")
    .option("--uninstall", "take the server out again")
    .addHelpText("after", MCP_INSTALL_EXAMPLES)
    .action(async (client: string, options: string[], args: MCPInstallArguments) => {
      const { mcpInstall } = await import("./mcp-install/mcp-install.ts");
      process.exitCode = await mcpInstall(client, options, args);
    });
}

function addDoctor(program: Command): void {
  program
    .command("doctor")
    .summary("check what this machine offers, and how to repair it")
    .description("Checks Node, Python, the sandbox and what they need, and prints the fix for what is not right.")
    .option("--json", "print the findings as one JSON object, and nothing else")
    .allowExcessArguments(false)
    .action(async (options: { readonly json?: true }) => {
      const { doctor } = await import("./doctor/doctor.ts");
      process.exitCode = await doctor(options);
    });
}

const PROGRAM_EXAMPLES = `
Examples:
  rlm run --demo               a question over a long text, answered without a key
  rlm exec -c 'print(6*7)'     run code
  rlm repl                     a console
  rlm serve                    serve over HTTP
  rlm sessions                 what is open there
  rlm mcp-serve                serve to an MCP client
  rlm logs                     the runs so far
  rlm mcp install cursor       add that server to a client
  rlm doctor                   is everything all right here?

'rlm COMMAND --help' has more.`;

const EXEC_EXAMPLES = `
Examples:
  rlm exec -c 'print(6*7)'
  rlm exec report.py 2024 --mount ./data --timeout 60
  rlm exec report.py -- --verbose      what follows -- is the program's own
  echo 'print(1)' | rlm exec - --json

Exit codes: 0 ok, 1 the code raised, n for exit(n), 124 time limit, 130 Ctrl-C, 2 wrong usage, 70 our own failure.`;

const MCP_EXAMPLES = `
Examples:
  claude mcp add rlm -- rlm mcp-serve
  rlm mcp-serve --mount ./data:rw --tools core
  rlm mcp-serve --http --port 0`;

const LOGS_EXAMPLES = `
Examples:
  rlm logs -n 5
  rlm logs show r-3f                   the beginning of an id is enough
  rlm logs show r-3f --follow
  rlm logs show r-3f --json | jq 'select(.type == "model-call-end") | .usage.costUsd'`;

const SERVE_EXAMPLES = `
Examples:
  rlm serve
  RLM_TOKEN=secret rlm serve --port 0
  rlm serve --host 0.0.0.0 --allow-host box.example
  rlm serve --log-file serve.log --grace 30`;

const MCP_INSTALL_EXAMPLES = `
Examples:
  rlm mcp install claude-code
  rlm mcp install cursor -- --tools core --mount ~/data
  rlm mcp install vscode --scope project --print
  rlm mcp install codex --uninstall`;
