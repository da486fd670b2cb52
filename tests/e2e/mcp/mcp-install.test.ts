import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { rlm, type Ended } from "../program.ts";

const CLI = join(import.meta.dirname, "../../../dist/cli.cjs");

/** The file of each client, with content that is not ours. */
const FILES = {
  "claude-code": [".claude.json", `{"numStartups":3,"mcpServers":{"a":{"command":"x"}}}`],
  "claude-desktop": [".config/Claude/claude_desktop_config.json", `{\n  "globalShortcut": ""\n}`],
  cursor: [".cursor/mcp.json", `{\n\t"mcpServers": { }\n}\n`],
  vscode: [".config/Code/User/mcp.json", `// mine\r\n{\r\n    "servers": {},\r\n    "inputs": [],\r\n}\r\n`],
  codex: [".codex/config.toml", `model = "x" # the best\n\n[mcp_servers.a]\ncommand = "x"`],
  gemini: [".gemini/settings.json", `{ "theme": "dark" /* always */ }\n`],
  zed: [".config/zed/settings.json", `\u{FEFF}{\n  // servers\n  "context_servers": {\n    // none yet\n  },\n}\n`],
} as const;

type ClientName = keyof typeof FILES;
const CLIENTS = Object.keys(FILES) as ClientName[];

class Home implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "rlm-home-"));

  file(client: ClientName): string {
    return join(this.path, FILES[client][0]);
  }

  /** Creates the files of a client that was used. */
  fill(client: ClientName): Buffer {
    mkdirSync(dirname(this.file(client)), { recursive: true });
    writeFileSync(this.file(client), FILES[client][1]);
    return readFileSync(this.file(client));
  }

  /** The names of all files but those of the data folder. */
  list(): string[] {
    return readdirSync(this.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(this.path, ".local/share/rlm")))
      .map(({ name }) => name);
  }

  async install(...args: readonly string[]): Promise<Ended> {
    return this.installIn(this.path, ...args);
  }

  async installIn(cwd: string, ...args: readonly string[]): Promise<Ended> {
    const env = { HOME: this.path, XDG_CONFIG_HOME: "", CODEX_HOME: "", CLAUDE_CONFIG_DIR: "" };
    return rlm(["mcp", "install", ...args], { env, cwd });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

/** One of each format. The tests of `tests/cli/mcp-install` have them all; the others install for real in CI. */
const FIRST: readonly ClientName[] = ["claude-code", "codex", "zed"];

describe.each(CLIENTS)("install %s", (client) => {
  const options = FIRST.includes(client) ? {} : { tags: "stress" };

  test("adds the server once, with a backup, and removes it to the last byte", options, async () => {
    using home = new Home();
    const before = home.fill(client);

    const first = await home.install(client);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(first.stdout).toContain(`Added 'rlm' to ${home.file(client)}\n`);
    expect(first.stdout).toMatch(/^The server starts and offers \d\d tools$/m);
    expect(first.stdout).toMatch(/^Next: .*start/im);
    const backup = /^The file as it was: (?<path>.*)$/m.exec(first.stdout)?.groups?.["path"] ?? "";
    expect(readFileSync(backup)).toEqual(before);
    const installed = readFileSync(home.file(client));
    expect(commandIn(client, installed)).toEqual([process.execPath, CLI, "mcp-serve"]);

    const again = await home.install(client);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).toContain("nothing had to be changed");
    expect(readFileSync(home.file(client))).toEqual(installed);
    expect(home.list()).toHaveLength(2);

    const out = await home.install(client, "--uninstall");
    expect(out).toMatchObject({ code: 0, stderr: "" });
    expect(out.stdout).toContain(`Took 'rlm' out of ${home.file(client)}\n`);
    expect(readFileSync(home.file(client))).toEqual(before);

    const outAgain = await home.install(client, "--uninstall");
    expect(outAgain).toMatchObject({ code: 0, stderr: "" });
    expect(outAgain.stdout).toContain("nothing had to be changed");
  });

  test("--print shows what would be written, and writes nothing", options, async () => {
    using home = new Home();
    const before = home.fill(client);
    const { code, stdout, stderr } = await home.install(client, "--print", "--", "--tools", "core");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [head, ...snippet] = stdout.split("\n");
    expect(head).toBe(`To be added to ${home.file(client)}:`);
    const command = commandIn(client, Buffer.from(snippet.join("\n")));
    expect(command).toEqual([process.execPath, CLI, "mcp-serve", "--tools", "core"]);
    expect(readFileSync(home.file(client))).toEqual(before);
    expect(home.list()).toHaveLength(1);
  });

  test("a client that is not installed gets no folder", options, async () => {
    using home = new Home();
    const { code, stdout, stderr } = await home.install(client);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^rlm: nothing was changed\. .* does not seem to be installed: no folder .*--print/);
    expect(readdirSync(home.path)).toEqual([]);
  });
});

describe("a client without a file", () => {
  test.each(["cursor", "codex"] as const)("of %s gets one, which is removed again", async (client) => {
    using home = new Home();
    mkdirSync(dirname(home.file(client)), { recursive: true });
    await home.install(client);
    expect(commandIn(client, readFileSync(home.file(client)))).toEqual([process.execPath, CLI, "mcp-serve"]);
    expect((await home.install(client, "--uninstall")).stdout).toContain(`Removed ${home.file(client)}, `);
    expect(home.list()).toEqual([]);
  });

  test("an empty file counts as a file and is restored", async () => {
    using home = new Home();
    mkdirSync(dirname(home.file("cursor")));
    writeFileSync(home.file("cursor"), "");
    await home.install("cursor");
    expect(commandIn("cursor", readFileSync(home.file("cursor")))).toEqual([process.execPath, CLI, "mcp-serve"]);
    await home.install("cursor", "--uninstall");
    expect(readFileSync(home.file("cursor"), "utf8")).toBe("");
  });
});

test("changes of the user to the entry stay, and options are those of the last call", async () => {
  using home = new Home();
  mkdirSync(dirname(home.file("cursor")));
  const mine = { command: "npx", args: ["-y", "rlm-runtime", "mcp-serve"], env: { RLM_DATA: "/data" }, type: "stdio" };
  writeFileSync(home.file("cursor"), JSON.stringify({ mcpServers: { mine } }));
  const data = join(home.path, "data");
  mkdirSync(data);
  const { stdout } = await home.install("cursor", "--name", "mine", "--", "--tools", "core", "--mount", "~/data");
  expect(stdout).toContain("Changed 'mine' in ");
  expect(stdout).toContain("offers 3 tools");
  const args = [CLI, "mcp-serve", "--tools", "core", "--mount", data];
  expect(JSON.parse(readFileSync(home.file("cursor"), "utf8"))).toEqual({
    mcpServers: { mine: { ...mine, command: process.execPath, args } },
  });
});

describe("nothing is changed", () => {
  test("if the file does not parse, and line and column are named", async () => {
    using home = new Home();
    home.fill("cursor");
    writeFileSync(home.file("cursor"), `{\n  "mcpServers": {\n    oops\n`);
    const { code, stderr } = await home.install("cursor");
    expect(code).toBe(1);
    expect(stderr).toBe(
      `rlm: nothing was changed. ${home.file("cursor")}: line 3, column 5: expected a key in double quotes, or '}'\n`,
    );
    expect(home.list()).toHaveLength(1);
  });

  test("if the path is a folder", async () => {
    using home = new Home();
    mkdirSync(home.file("cursor"), { recursive: true });
    const { code, stderr } = await home.install("cursor");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `rlm: nothing was changed. ${home.file("cursor")}: it is not a file\n`,
    });
  });

  test("if the name belongs to another server", async () => {
    using home = new Home();
    home.fill("cursor");
    const text = `{"mcpServers":{"rlm":{"url":"https://example.org/mcp"}}}`;
    writeFileSync(home.file("cursor"), text);
    for (const args of [[], ["--uninstall"], ["--print"]]) {
      const { code, stderr } = await home.install("cursor", ...args);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("another server") as string });
    }
    expect(readFileSync(home.file("cursor"), "utf8")).toBe(text);
    expect(home.list()).toHaveLength(1);
  });

  test("if the server does not start with these options", async () => {
    using home = new Home();
    const before = home.fill("codex");
    const { code, stderr } = await home.install("codex", "--", "--mount", "/nowhere");
    expect(code).toBe(1);
    expect(stderr).toContain("the server does not start: it ended with 2: ");
    expect(stderr).toContain("/nowhere");
    expect(readFileSync(home.file("codex"))).toEqual(before);
    expect(home.list()).toHaveLength(1);
  });

  test("if TOML has a form that cannot be edited, and a snippet is shown", async () => {
    using home = new Home();
    home.fill("codex");
    writeFileSync(home.file("codex"), `mcp_servers = { a = { command = "x" } }\n`);
    const { code, stderr } = await home.install("codex");
    expect(code).toBe(1);
    expect(stderr).toContain("\n[mcp_servers.rlm]\ncommand = ");
    expect(home.list()).toHaveLength(1);
  });

  test.each([
    [["emacs"], "there is no client 'emacs': choose claude-code, "],
    [["cursor", "--tools", "core"], "Options of the server go after '--'. Run 'rlm mcp install --help'"],
    [["zed", "--scope", "project"], "here is no configuration of a project for Zed"],
    [["cursor", "--", "--http"], "--http is for clients that connect"],
  ])("by a wrong command line %j", async (args, message) => {
    using home = new Home();
    const { code, stdout, stderr } = await home.install(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("--scope project", () => {
  test("writes into the current folder, and creates the client's folder there", async () => {
    using home = new Home();
    const project = join(home.path, "project");
    mkdirSync(project);
    const { code, stdout } = await home.installIn(project, "vscode", "--scope", "project");
    expect({ code }).toEqual({ code: 0 });
    expect(stdout).toContain(`Added 'rlm' to ${join(project, ".vscode/mcp.json")}\n`);
    expect(stdout).toContain("Note: the file has paths of this machine");
    const bytes = readFileSync(join(project, ".vscode/mcp.json"));
    expect(commandIn("vscode", bytes)).toEqual([process.execPath, CLI, "mcp-serve"]);
    expect(existsSync(join(home.path, ".config"))).toBe(false);
  });

  test("does not run programs from the project's file", async () => {
    using home = new Home();
    const trap = join(home.path, "trap.cjs");
    writeFileSync(trap, `require("fs").writeFileSync(${JSON.stringify(join(home.path, "caught"))}, "")`);
    const theirs = { command: trap, args: ["mcp-serve"], env: { NODE_OPTIONS: `--require=${trap}` } };
    writeFileSync(join(home.path, ".mcp.json"), JSON.stringify({ mcpServers: { rlm: theirs } }));
    const { code, stdout } = await home.installIn(home.path, "claude-code", "--scope", "project");
    expect({ code }).toEqual({ code: 0 });
    expect(stdout).toContain("Changed 'rlm' in ");
    expect(existsSync(join(home.path, "caught"))).toBe(false);
  });
});

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
}

/** Parses the file like the client, which may allow comments and trailing commas. */
function commandIn(client: ClientName, bytes: Buffer): string[] {
  const text = bytes.toString("utf8").replace(/^\u{FEFF}/u, "");
  const document = (
    client === "codex"
      ? parse(text)
      : JSON.parse(text.replaceAll(/\/\/.*$|\/\*.*?\*\//gm, "").replaceAll(/,(?=\s*[}\]])/g, ""))
  ) as Record<string, Record<string, Entry>>;
  const key = { codex: "mcp_servers", vscode: "servers", zed: "context_servers" }[client as string] ?? "mcpServers";
  const { command = "", args = [] } = document[key]?.["rlm"] ?? {};
  return [command, ...args];
}
