// The command that a client starts. All paths are absolute, because a client that was started from a desktop has neither
// the PATH of a shell nor its current directory.

import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { isCommandName } from "../../util/is-command-name.ts";
import { UsageError } from "../options/usage-error.ts";
import type { ServerCommand } from "./clients.ts";

/** This Node and this program, with the given options of `rlm mcp-serve`. */
export function toServerCommand(options: readonly string[], home: string): ServerCommand {
  const script = realpathSync(process.argv[1] ?? "");
  return { command: stableNode(process.execPath), args: [script, "mcp-serve", ...absoluteOptions(options, home)] };
}

/** Homebrew removes the folder of a version at an upgrade; its `opt` link stays. */
export function stableNode(node: string, exists: (path: string) => boolean = existsSync): string {
  const match = /^(?<prefix>.*)\/Cellar\/(?<formula>node(?:@\d+)?)\/[^/]+\/bin\/node$/.exec(node)?.groups;
  const link = `${match?.["prefix"]}/opt/${match?.["formula"]}/bin/node`;
  return match !== undefined && exists(link) ? link : node;
}

/** Makes paths absolute. Throws on options that make no sense for a client that starts the server. */
export function absoluteOptions(options: readonly string[], home: string): readonly string[] {
  return options.map((option, index) => {
    if (/^--http(?:=|$)/.test(option))
      throw new UsageError("--http is for clients that connect; this one starts the server and needs none");
    const { name, value } = /^(?<name>--(?:mount|python))=(?<value>.*)$/s.exec(option)?.groups ?? {};
    if (name !== undefined && value !== undefined) return `${name}=${toAbsolute(name, value, home)}`;
    const before = options[index - 1];
    return before === "--mount" || before === "--python" ? toAbsolute(before, option, home) : option;
  });
}

function toAbsolute(option: string, value: string, home: string): string {
  const path = value.replace(/^~(?=\/|$)/, () => home);
  return option === "--python" && isCommandName(path) ? path : resolve(path);
}

/** Warnings about the command. */
export function cautions({ args }: ServerCommand, env: NodeJS.ProcessEnv): readonly string[] {
  const [script = ""] = args;
  const python = env["RLM_PYTHON"];
  const lines: string[] = [];
  if (/[/\\]_npx[/\\]/.test(script))
    lines.push("it runs from the cache of npx, which npm may empty: `npm install -g rlm-runtime`, then this again");
  if (python !== undefined && !args.some((arg) => /^--python(?:=|$)/.test(arg)))
    lines.push(`RLM_PYTHON is set here, and clients may not pass it on: add \`-- --python ${python}\` to be sure`);
  return lines;
}
