// `rlm mcp install` with its options.

import { Option, type Command } from "commander";
import { endWith } from "../options/action.ts";
import type { MCPInstallArguments } from "./mcp-install.ts";

export function addMCP(program: Command): void {
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
    .argument("<client>", "the client")
    .argument("[options...]", "what the client passes to `rlm mcp-serve`")
    .option("--name <name>", "what the client calls the server", "rlm")
    .addOption(
      new Option("--scope <scope>", "for you, or for the project in this folder")
        .choices(["user", "project"])
        .default("user", "user"),
    )
    .option("--print", "show what would be written, without writing it")
    .option("--uninstall", "remove the server")
    .addHelpText("after", EXAMPLES)
    .action(
      endWith(async (client: string, serverOptions: string[], options: MCPInstallArguments) =>
        (await import("./mcp-install.ts")).mcpInstall(client, serverOptions, options),
      ),
    );
}

const EXAMPLES = `
Examples:
  rlm mcp install claude-code
  rlm mcp install cursor -- --tools core --mount ~/data
  rlm mcp install vscode --scope project --print
  rlm mcp install codex --uninstall`;
