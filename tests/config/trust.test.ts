import { chmodSync, existsSync, readdirSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadConfig, type Config } from "../../src/config/config.ts";
import { readConfigFile } from "../../src/config/config-file.ts";
import { trust, trustOf, untrust } from "../../src/config/trust.ts";
import { Folder } from "./folder.ts";
import { chooseOf } from "./load.ts";

const TOML = `
[rlm]
model = "m"
backend = "openai"
base_url = "https://llm.example/v1"
[sessions]
python = "./python"
users = "3000000-3000999"
mounts = ["data"]
timeout = 7
[server]
host = "0.0.0.0"
allow_hosts = ["a"]
allow_origins = ["https://a.example"]
port = 9
[limits]
memory = "1g"
[network]
allow = ["a.example"]
[mcp_servers.docs]
command = "docs"
`;

let folder: Folder;
beforeEach(() => {
  folder = new Folder({ "project/rlm.toml": TOML });
  vi.stubEnv("RLM_DATA", folder.at("data"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

function load(path?: string): Config {
  const env = { HOME: folder.path, OPENAI_API_KEY: "real" };
  return loadConfig({ cwd: folder.at("project"), env, ...(path !== undefined && { path }) });
}

test("what is dangerous in a project's file counts only when the file is trusted", () => {
  const { rlm, sessions, server, limits, network, mcpServers, ignored } = load();
  expect({ model: rlm.model, sessions, server, limits, network, mcpServers }).toEqual({
    model: "m",
    sessions: { timeout: 7 },
    server: { port: 9 },
    limits: { memoryBytes: 1024 ** 3 },
    network: {},
    mcpServers: {},
  });
  expect(ignored).toEqual({
    path: folder.at("project/rlm.toml"),
    trust: "new",
    names: [
      "sessions.python",
      "sessions.users",
      "sessions.mounts",
      "server.host",
      "server.allow_hosts",
      "server.allow_origins",
      "network.allow",
      "[mcp_servers.docs]",
    ],
  });
  expect(() => chooseOf(load())).toThrow(/it would send the key/);

  trust(readConfigFile(folder.at("project/rlm.toml")));
  const trusted = load();
  expect(trusted.ignored).toBe(null);
  expect(trusted.sessions).toMatchObject({ python: folder.at("project/python"), mounts: [folder.at("project/data")] });
  expect(trusted.server).toMatchObject({ host: "0.0.0.0" });
  expect([trusted.network, trusted.mcpServers]).toEqual([{ allow: ["a.example"] }, { docs: { command: "docs" } }]);
  expect(chooseOf(trusted)).toEqual({ type: "openai", baseUrl: "https://llm.example/v1" });
});

test("a changed file must be trusted again", () => {
  trust(readConfigFile(folder.at("project/rlm.toml")));
  folder.write("project/rlm.toml", `${TOML}#`);
  expect(load().ignored?.trust).toBe("changed");
  folder.write("project/rlm.toml", TOML);
  expect(load().ignored).toBe(null);
});

test("a file that the user names is trusted; the same text elsewhere is not", () => {
  expect(load("rlm.toml").ignored).toBe(null);
  trust(readConfigFile(folder.at("project/rlm.toml")));
  const copy = folder.write("other/rlm.toml", TOML);
  expect(trustOf(readConfigFile(copy))).toBe("new");
});

test("a link to a trusted file is not trusted, because its paths begin in another folder", () => {
  trust(readConfigFile(folder.at("project/rlm.toml")));
  folder.write("hostile/python", "#!/bin/sh\n");
  symlinkSync("../project/rlm.toml", folder.at("hostile/rlm.toml"));
  const { sessions, ignored } = loadConfig({ cwd: folder.at("hostile"), env: { HOME: folder.at("home") } });
  expect([sessions.python, ignored?.trust]).toEqual([undefined, "new"]);
});

test("a link to the folder of a trusted file leads to the same file", () => {
  trust(readConfigFile(folder.at("project/rlm.toml")));
  symlinkSync("project", folder.at("link"));
  expect(trustOf(readConfigFile(folder.at("link/rlm.toml")))).toBe("trusted");
});

test("trust can be taken back", () => {
  const file = readConfigFile(folder.at("project/rlm.toml"));
  trust(file);
  expect([untrust(file.path), untrust(file.path), trustOf(file)]).toEqual([true, false, "new"]);
});

test("asking creates nothing; trusting creates a file that only the user can read", () => {
  const file = readConfigFile(folder.at("project/rlm.toml"));
  expect([trustOf(file), existsSync(folder.at("data"))]).toEqual(["new", false]);
  trust(file);
  const [name = "", ...others] = readdirSync(folder.at("data/trusted"));
  expect(others).toEqual([]);
  expect(statSync(folder.at(`data/trusted/${name}`)).mode & 0o777).toBe(0o600);
});

test("records of files that are gone are removed with the next one", () => {
  trust(readConfigFile(folder.write("gone/rlm.toml", "")));
  folder.write("data/trusted/note.json", "{}"); // being written by another process, as far as anybody knows
  const elsewhere = new Folder({ "rlm.toml": "" });
  trust(readConfigFile(elsewhere.at("rlm.toml")));
  elsewhere[Symbol.dispose]();
  expect(readdirSync(folder.at("data/trusted"))).toHaveLength(3);
  trust(readConfigFile(folder.at("project/rlm.toml")));
  expect(readdirSync(folder.at("data/trusted"))).toHaveLength(3);
});

test("what a killed process left is removed, and files of the user are not", () => {
  trust(readConfigFile(folder.at("project/rlm.toml")));
  const [own = ""] = readdirSync(folder.at("data/trusted"));
  const left = folder.write(`data/trusted/${own}.0123456789ab.tmp`, "{");
  const letter = folder.write("data/trusted/letter.txt", "of the user, who chose a folder that has others");
  for (const path of [left, letter]) utimesSync(path, 0, 0);
  trust(readConfigFile(folder.at("project/rlm.toml")));
  expect(readdirSync(folder.at("data/trusted")).toSorted()).toEqual([own, "letter.txt"].toSorted());
});

test.each(["{", "[]", '{"path": 1}', "x".repeat(20_000)])("a damaged record counts as none: %s", (text) => {
  const file = readConfigFile(folder.at("project/rlm.toml"));
  trust(file);
  const [name = ""] = readdirSync(folder.at("data/trusted"));
  folder.write(`data/trusted/${name}`, text);
  expect(trustOf(file)).toBe("new");
});

test("records in a folder that others can write to do not count", () => {
  const file = readConfigFile(folder.at("project/rlm.toml"));
  trust(file);
  chmodSync(folder.at("data/trusted"), 0o777);
  expect(trustOf(file)).toBe("new");
  expect(() => trust(file)).toThrow(`Cannot use the folder ${folder.at("data/trusted")}`);
});
