// `rlm serve` and `rlm mcp-serve` with their options.

import { Option, type Command } from "commander";
import { ENVIRONMENT_NAMES } from "../../environments/registry.ts";
import { exitWith, exitWithOwnLog } from "../options/action.ts";
import { collect, parsePort, parseSeconds } from "../options/option-values.ts";
import type { MCPServeArguments } from "./mcp-serve.ts";
import type { ServeArguments } from "./serve-settings.ts";

export function addServe(program: Command): void {
  program
    .command("serve")
    .summary("serve sessions over HTTP")
    .description("Serves over HTTP, protected by the token that it prints.")
    .option("--port <number>", "0 takes any free port (default: 8000)", parsePort)
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option(
      "--allow-host <name>",
      "a host name that clients use; needed for other addresses; may be repeated",
      collect(String),
    )
    .option("--allow-origin <origin>", "a site whose pages may send requests; may be repeated", collect(String))
    .option("--grace <seconds>", "how long running work may continue after a signal (default: 10)", parseSeconds)
    .addOption(new Option("--env <name>", "where sessions run (default: local)").choices(ENVIRONMENT_NAMES))
    .option("--config <path>", "use this rlm.toml instead of the one that would be found")
    .option(
      "--tools <choice>",
      "tools of /mcp: core, all, or names of tools and groups, separated by commas (default: all)",
    )
    .option("--structured", "results of /mcp also as JSON with a schema, for programs")
    .option(
      "--mount <PATH[:ro|rw]>",
      "mount a folder in sessions, read-only unless :rw; may be repeated",
      collect(String),
    )
    .addHelpText("after", SERVE_EXAMPLES)
    .allowExcessArguments(false)
    .action(exitWithOwnLog(async (options: ServeArguments) => (await import("./serve.ts")).serve(options)));
}

export function addMCPServe(program: Command): void {
  program
    .command("mcp-serve")
    .summary("serve Python and a shell to an MCP client")
    .description(
      "An MCP server on standard input and output. The current folder is mounted in sessions, read-only and without .env and other secrets.",
    )
    .option("--http", "listen on a port, protected by a token, instead of standard input and output")
    .option("--port <number>", "with --http: 0 takes any free port (default: 8000)", parsePort)
    .option("--host <address>", "with --http: the address to listen on (default: 127.0.0.1)")
    .option(
      "--allow-host <name>",
      "with --http: a host name that clients use; needed for other addresses; may be repeated",
      collect(String),
    )
    .option("--tools <choice>", "core, all, or names of tools and groups, separated by commas", "all")
    .option("--structured", "results also as JSON with a schema, for programs")
    .option("--mount <PATH[:ro|rw]>", "mount another folder, read-only unless :rw; may be repeated", collect(String))
    .addOption(new Option("--env <name>", "where sessions run (default: local)").choices(ENVIRONMENT_NAMES))
    .option("--python <path>", "an interpreter or a virtual environment (default: RLM_PYTHON, else python3)")
    .option("--config <file>", "use this file instead of rlm.toml")
    .addHelpText("after", MCP_EXAMPLES)
    .allowExcessArguments(false)
    .action(exitWith(async (options: MCPServeArguments) => (await import("./mcp-serve.ts")).mcpServe(options)));
}

const SERVE_EXAMPLES = `
Examples:
  rlm serve
  RLM_TOKEN=secret rlm serve --port 0
  rlm serve --env docker
  rlm serve --host 0.0.0.0 --allow-host box.example
  rlm serve --log-file serve.log --grace 30`;

const MCP_EXAMPLES = `
Examples:
  claude mcp add rlm -- rlm mcp-serve
  rlm mcp-serve --mount ./data:rw --tools core
  rlm mcp-serve --env wasm
  rlm mcp-serve --http --port 0`;
