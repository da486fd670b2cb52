// The supported MCP clients: where each keeps its configuration, and the form of an entry in it.

import { posix, win32 } from "node:path";
import type { Editor, WantedEntry } from "./config-text.ts";
import { JSONC } from "./jsonc-edit.ts";
import { TOML } from "./toml-edit.ts";

export type Scope = "user" | "project";

/** What the locations of files depend on. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The current directory, which is the project for that scope. */
  readonly cwd: string;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Client {
  readonly title: string;
  readonly editor: Editor;
  /** The key of the table of servers. */
  readonly servers: string;
  /** Keys of an entry besides the command and its arguments. */
  readonly entry?: Partial<WantedEntry>;
  readonly user: (machine: Machine) => UserFile;
  /** The file in a project; undefined if the client has none. */
  readonly project?: string;
  /** What the user has to do next. */
  readonly next: Readonly<Partial<Record<Scope, string>>> & { readonly user: string };
}

interface UserFile {
  readonly file: string;
  /** Files and folders that the client creates: if none exists, it is not installed. */
  readonly signs: readonly string[];
}

export type ClientName = (typeof CLIENT_NAMES)[number];

export const CLIENT_NAMES = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini", "zed"] as const;

/** A call ends within a minute or becomes a task; half an hour is for calls that wait for a task. */
const CALL_SECONDS = 1800;
const START_SECONDS = 30;

export const CLIENTS: Readonly<Record<ClientName, Client>> = {
  "claude-code": {
    title: "Claude Code",
    editor: JSONC,
    servers: "mcpServers",
    entry: { command: { type: "stdio" } },
    user: ({ env, home, ...machine }) => {
      const path = paths(machine);
      const own = env["CLAUDE_CONFIG_DIR"] || undefined;
      const file = path.join(own ?? home, ".claude.json");
      return { file, signs: [file, own ?? path.join(home, ".claude")] };
    },
    project: ".mcp.json",
    next: {
      user: "Start Claude Code again; /mcp shows the server",
      project: "Start Claude Code again in this folder; it asks once whether the project's server may be used",
    },
  },
  "claude-desktop": {
    title: "Claude Desktop",
    editor: JSONC,
    servers: "mcpServers",
    user: (machine) => inFolder(machine, appData(machine, "Claude"), "claude_desktop_config.json"),
    next: { user: "Quit Claude Desktop and start it again" },
  },
  cursor: {
    title: "Cursor",
    editor: JSONC,
    servers: "mcpServers",
    entry: { command: { type: "stdio" } },
    user: (machine) => inFolder(machine, paths(machine).join(machine.home, ".cursor"), "mcp.json"),
    project: ".cursor/mcp.json",
    next: { user: "Restart Cursor, and see that the server is switched on in its settings" },
  },
  vscode: {
    title: "VS Code",
    editor: JSONC,
    servers: "servers",
    entry: { command: { type: "stdio" } },
    user: (machine) => inFolder(machine, paths(machine).join(appData(machine, "Code"), "User"), "mcp.json"),
    project: ".vscode/mcp.json",
    next: {
      user: "Start the server in VS Code with the command 'MCP: List Servers'; it asks once whether you trust it",
    },
  },
  codex: {
    title: "Codex",
    editor: TOML,
    servers: "mcp_servers",
    entry: { defaults: { startup_timeout_sec: START_SECONDS, tool_timeout_sec: CALL_SECONDS } },
    user: (machine) => {
      const folder = machine.env["CODEX_HOME"] || paths(machine).join(machine.home, ".codex");
      return inFolder(machine, folder, "config.toml");
    },
    project: ".codex/config.toml",
    next: {
      user: "Start Codex again",
      project: "Start Codex again in this folder; it reads the file only in trusted projects",
    },
  },
  gemini: {
    title: "Gemini CLI",
    editor: JSONC,
    servers: "mcpServers",
    entry: { defaults: { timeout: CALL_SECONDS * 1000 } },
    user: (machine) => inFolder(machine, paths(machine).join(machine.home, ".gemini"), "settings.json"),
    project: ".gemini/settings.json",
    next: { user: "Start Gemini CLI again" },
  },
  zed: {
    title: "Zed",
    editor: JSONC,
    servers: "context_servers",
    user: (machine) => inFolder(machine, zedFolder(machine), "settings.json"),
    next: { user: "Zed starts the server at once; its agent panel shows it" },
  },
};

export function toEntry({ entry }: Client, { command, args }: ServerCommand): WantedEntry {
  return { command: { ...entry?.command, command, args }, defaults: entry?.defaults ?? {} };
}

export function isClientName(name: string): name is ClientName {
  return (CLIENT_NAMES as readonly string[]).includes(name);
}

/** The path functions of the platform. */
export function paths({ platform }: Pick<Machine, "platform">): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function inFolder(machine: Machine, folder: string, name: string): UserFile {
  return { file: paths(machine).join(folder, name), signs: [folder] };
}

/** The configuration folder of a desktop program. */
function appData(machine: Machine, name: string): string {
  const { env, home, platform } = machine;
  if (platform === "win32") return win32.join(env["APPDATA"] || win32.join(home, "AppData", "Roaming"), name);
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", name);
  return posix.join(configHome(machine), name);
}

/** The XDG specification says to ignore a path that is not absolute. */
function configHome({ env, home }: Machine): string {
  const set = env["XDG_CONFIG_HOME"] ?? "";
  return posix.isAbsolute(set) ? set : posix.join(home, ".config");
}

function zedFolder(machine: Machine): string {
  if (machine.platform === "win32") return appData(machine, "Zed");
  const base = machine.platform === "darwin" ? posix.join(machine.home, ".config") : configHome(machine);
  return posix.join(base, "zed");
}
