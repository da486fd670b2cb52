import { describe, expect, test } from "vitest";
import { CLIENTS, CLIENT_NAMES, type Machine, toEntry } from "../../../src/cli/mcp-install/clients.ts";
import { toTarget } from "../../../src/cli/mcp-install/target.ts";

const LINUX: Machine = { platform: "linux", env: {}, home: "/home/user", cwd: "/home/user/project" };
const MAC: Machine = { platform: "darwin", env: { XDG_CONFIG_HOME: "/x" }, home: "/Users/ada", cwd: "/Users/ada/work" };
const WINDOWS: Machine = {
  platform: "win32",
  env: { APPDATA: "C:\\Users\\ada\\AppData\\Roaming", XDG_CONFIG_HOME: "/x" },
  home: "C:\\Users\\ada",
  cwd: "C:\\work",
};

function userFiles(machine: Machine): Record<string, string> {
  return Object.fromEntries(CLIENT_NAMES.map((name) => [name, CLIENTS[name].user(machine).file]));
}

describe("where a client keeps its configuration", () => {
  test("on Linux", () => {
    expect(userFiles(LINUX)).toEqual({
      "claude-code": "/home/user/.claude.json",
      "claude-desktop": "/home/user/.config/Claude/claude_desktop_config.json",
      cursor: "/home/user/.cursor/mcp.json",
      vscode: "/home/user/.config/Code/User/mcp.json",
      codex: "/home/user/.codex/config.toml",
      gemini: "/home/user/.gemini/settings.json",
      zed: "/home/user/.config/zed/settings.json",
    });
  });

  test("on macOS", () => {
    expect(userFiles(MAC)).toEqual({
      "claude-code": "/Users/ada/.claude.json",
      "claude-desktop": "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
      cursor: "/Users/ada/.cursor/mcp.json",
      vscode: "/Users/ada/Library/Application Support/Code/User/mcp.json",
      codex: "/Users/ada/.codex/config.toml",
      gemini: "/Users/ada/.gemini/settings.json",
      zed: "/Users/ada/.config/zed/settings.json",
    });
  });

  test("on Windows", () => {
    expect(userFiles(WINDOWS)).toEqual({
      "claude-code": "C:\\Users\\ada\\.claude.json",
      "claude-desktop": "C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
      cursor: "C:\\Users\\ada\\.cursor\\mcp.json",
      vscode: "C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json",
      codex: "C:\\Users\\ada\\.codex\\config.toml",
      gemini: "C:\\Users\\ada\\.gemini\\settings.json",
      zed: "C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json",
    });
  });

  test("in the folder that the client's own variable names", () => {
    const env = { XDG_CONFIG_HOME: "/x", CODEX_HOME: "/codex", CLAUDE_CONFIG_DIR: "/claude" };
    expect(userFiles({ ...LINUX, env })).toMatchObject({
      "claude-code": "/claude/.claude.json",
      "claude-desktop": "/x/Claude/claude_desktop_config.json",
      vscode: "/x/Code/User/mcp.json",
      codex: "/codex/config.toml",
      zed: "/x/zed/settings.json",
    });
  });

  test("an empty or relative setting is ignored", () => {
    expect(userFiles({ ...LINUX, env: { XDG_CONFIG_HOME: "x", CODEX_HOME: "", CLAUDE_CONFIG_DIR: "" } })).toEqual(
      userFiles(LINUX),
    );
  });

  test("in a project", () => {
    const files = CLIENT_NAMES.filter((name) => CLIENTS[name].project !== undefined).map(
      (client) => toTarget({ client, name: "rlm", scope: "project" }, LINUX).path,
    );
    expect(files).toEqual([
      "/home/user/project/.mcp.json",
      "/home/user/project/.cursor/mcp.json",
      "/home/user/project/.vscode/mcp.json",
      "/home/user/project/.codex/config.toml",
      "/home/user/project/.gemini/settings.json",
    ]);
  });
});

describe("wrong arguments are refused", () => {
  test.each([
    ["an unknown client", { client: "emacs" }, "There is no client 'emacs': choose claude-code, "],
    [
      "a project where there is none",
      { client: "zed", scope: "project" },
      "here is no configuration of a project for Zed",
    ],
    ["a name with a dot", { name: "a.b" }, "--name: It must be a letter"],
    ["a name that is none", { name: "" }, "--name: It must be a letter"],
    ["a name of the language's own", { name: "__proto__" }, "--name: It must be a letter"],
  ] as const)("%s", (_, request, message) => {
    expect(() => toTarget({ client: "cursor", name: "rlm", scope: "user", ...request }, LINUX)).toThrow(message);
  });
});

test("each client gets an entry in its own form", () => {
  const command = { command: "/usr/bin/node", args: ["/cli.js", "mcp-serve"] };
  const entries = CLIENT_NAMES.map((name) => {
    const wanted = toEntry(CLIENTS[name], command);
    return [name, CLIENTS[name].servers, { ...wanted.command, ...wanted.defaults }];
  });
  expect(entries).toEqual([
    ["claude-code", "mcpServers", { type: "stdio", ...command }],
    ["claude-desktop", "mcpServers", command],
    ["cursor", "mcpServers", { type: "stdio", ...command }],
    ["vscode", "servers", { type: "stdio", ...command }],
    ["codex", "mcp_servers", { ...command, startup_timeout_sec: 30, tool_timeout_sec: 1800 }],
    ["gemini", "mcpServers", { ...command, timeout: 1_800_000 }],
    ["zed", "context_servers", command],
  ]);
});
