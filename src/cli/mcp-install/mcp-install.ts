// `rlm mcp install`: adds this program to the configuration of an MCP client, or removes it.
//
// The command is tried first, in the environment that clients provide, so that no client gets a server that does not start.
// Everything else in the client's file stays unchanged.

import { toTerminalText } from "../../util/text/terminal-text.ts";
import { printError } from "../io/print-error.ts";
import { EXIT } from "../exit-code.ts";
import { toEntry, type Machine, type Scope, type ServerCommand } from "./clients.ts";
import { readBackups, readConfig, removeConfig, replaceConfig, type ConfigFile } from "./config-file.ts";
import { isTable, type Entry, type WantedEntry } from "./config-text.ts";
import { Refusal } from "./refusal.ts";
import { cautions, toServerCommand } from "./server-command.ts";
import { makeProjectFolder, toTarget, type Target } from "./target.ts";
import { tryCommand } from "./try-command.ts";
import { homeFolder } from "../../util/home-folder.ts";

export interface MCPInstallArguments {
  readonly name: string;
  readonly scope: Scope;
  readonly print?: true;
  readonly uninstall?: true;
}

export async function mcpInstall(
  client: string,
  serverOptions: readonly string[],
  { name, scope, print, uninstall: isRemoval }: MCPInstallArguments,
): Promise<number> {
  const machine = { platform: process.platform, env: process.env, home: homeFolder(), cwd: process.cwd() };
  const target = toTarget({ client, name, scope }, machine);
  try {
    if (isRemoval) return uninstall(target, { isDry: print === true });
    const command = toServerCommand(serverOptions, machine.home);
    if (print) return show(target, command);
    return await install(target, command, machine);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printError(`Nothing was changed. ${error.message}`);
    if (error.snippet !== undefined) process.stderr.write(`\n${toTerminalText(error.snippet)}`);
    return EXIT.error;
  }
}

async function install(target: Target, command: ServerCommand, machine: Machine): Promise<number> {
  const { client, path, entryPath, scope, absence } = target;
  if (absence !== undefined) {
    throw new Refusal(`${absence}. Start it once and try again, or see with --print what to write where`);
  }
  const tools = await tryEntry(plan(target, command).entry, target, machine);
  // read again: the client may have written its file in the meantime
  const { file, text, verb } = plan(target, command);
  if (verb === undefined) {
    printLine(`'${entryPath.name}' is in ${path} already, and nothing had to be changed`);
  } else {
    const backup = inFile(path, () => {
      makeProjectFolder(target);
      return replaceConfig(file, text);
    });
    printLine(verb === "Added" ? `Added '${entryPath.name}' to ${path}` : `Changed '${entryPath.name}' in ${path}`);
    if (backup !== undefined) printLine(`The file as it was: ${backup}`);
  }
  printLine(`The server starts and offers ${tools.length} tools`);
  for (const caution of cautions(command, machine.env)) printLine(`Note: ${caution}`);
  if (scope === "project") printLine("Note: the file has paths of this machine; on another one, run this there");
  printLine(`Next: ${client.next[scope] ?? client.next.user}`);
  return EXIT.ok;
}

interface Plan {
  readonly file: ConfigFile;
  readonly text: string;
  /** The resulting entry. */
  readonly entry: Entry;
  /** Undefined: nothing changes. */
  readonly verb: "Added" | "Changed" | undefined;
}

function plan({ client, path, entryPath }: Target, command: ServerCommand): Plan {
  return inFile(path, () => {
    const file = readConfig(path);
    const before = client.editor.read(file.text, entryPath);
    checkOurs(before, entryPath.name);
    const text = client.editor.put(file.text, entryPath, toEntry(client, command));
    const entry = client.editor.read(text, entryPath) as Entry;
    const isSame = file.bytes !== undefined && text === file.text;
    return { file, text, entry, verb: isSame ? undefined : before === undefined ? "Added" : "Changed" };
  });
}

function show(target: Target, command: ServerCommand): number {
  const { client, path, entryPath, absence } = target;
  const { entry, verb } = plan(target, command);
  if (absence !== undefined) printLine(`Note: ${absence}`);
  printLine(
    verb === undefined ? `In ${path} already:` : `${verb === "Added" ? "To be added to" : "To be changed in"} ${path}:`,
  );
  process.stdout.write(`\n${toTerminalText(client.editor.snippet(entryPath, exactly(entry)))}`);
  return EXIT.ok;
}

function uninstall(target: Target, { isDry }: { readonly isDry: boolean }): number {
  const { client, path, entryPath } = target;
  return inFile(path, () => {
    const file = readConfig(path);
    const entry = client.editor.read(file.text, entryPath);
    if (entry === undefined) {
      printLine(`There is no '${entryPath.name}' in ${path}, and nothing had to be changed`);
      return EXIT.ok;
    }
    checkOurs(entry, entryPath.name);
    const text = textBefore(target, file, entry as Entry);
    if (isDry) {
      printLine(text === undefined ? `To be removed: ${path}` : `'${entryPath.name}' is to be taken out of ${path}`);
      return EXIT.ok;
    }
    if (text === undefined) {
      removeConfig(file);
      printLine(`Removed ${path}, which had nothing but '${entryPath.name}'`);
    } else {
      const backup = replaceConfig(file, text);
      printLine(`Took '${entryPath.name}' out of ${path}`);
      if (backup !== undefined) printLine(`The file as it was: ${backup}`);
    }
    printLine(`Next: restart ${client.title}`);
    return EXIT.ok;
  });
}

/**
 * The text without the entry: the backup from before the entry was added, if there is one, so that every character is
 * restored. Undefined: the file was created with the entry.
 */
function textBefore(
  { client: { editor }, entryPath }: Target,
  { path, text }: ConfigFile,
  entry: Entry,
): string | undefined {
  const isBefore = (backup: string): boolean => {
    try {
      return editor.read(backup, entryPath) === undefined && editor.put(backup, entryPath, exactly(entry)) === text;
    } catch {
      return false; // it does not parse, so the entry was not added to it
    }
  };
  const before = readBackups(path).find(isBefore);
  if (before === undefined && text === editor.snippet(entryPath, exactly(entry))) return undefined;
  return before ?? editor.remove(text, entryPath);
}

function exactly(entry: Entry): WantedEntry {
  return { command: entry, defaults: {} };
}

/** An entry that runs `mcp-serve` is ours. Any other entry of that name is not touched. */
function checkOurs(entry: unknown, name: string): void {
  if (entry === undefined) return;
  const args = isTable(entry) ? entry["args"] : undefined;
  if (Array.isArray(args) && args.includes("mcp-serve")) return;
  throw new Refusal(`'${name}' is another server there. Choose a different name with --name`);
}

/** Ignores the environment in a project's file, which is not trusted: it could make another program run. */
async function tryEntry(
  { command, args, env }: Entry,
  { scope }: Target,
  { home, cwd }: Machine,
): Promise<readonly string[]> {
  const added = scope === "user" && isTable(env) ? Object.entries(env).map(([key, value]) => [key, String(value)]) : [];
  const started = { command: String(command), args: (args as readonly unknown[]).map(String) };
  return tryCommand(started, { cwd: scope === "user" ? home : cwd, env: Object.fromEntries(added) });
}

/** Adds the path of the file to errors. */
function inFile<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) {
      const { snippet } = error;
      throw new Refusal(`${path}: ${error.message}`, { cause: error, ...(snippet !== undefined && { snippet }) });
    }
    if (error instanceof Error && "syscall" in error) {
      // drops the end of "EACCES: permission denied, open '…'", which names a temporary file
      throw new Refusal(`${path}: ${error.message.replace(/, \w+(?: '.*)?$/s, "")}`, { cause: error });
    }
    throw error;
  }
}

function printLine(line: string): void {
  process.stdout.write(`${toTerminalText(line)}\n`);
}
