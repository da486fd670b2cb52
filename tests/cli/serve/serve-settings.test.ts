import { expect, test } from "vitest";
import { toServeSettings, type ServeArguments } from "../../../src/cli/serve/serve-settings.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { Folder } from "../../config/folder.ts";

/** Uses this rlm.toml in the current folder, as the user's own file, or with --config. */
function settle(toml: string, flags: ServeArguments = {}, source: "folder" | "own" | "named" = "folder") {
  using folder = new Folder({
    "project/x": "",
    [source === "own" ? ".config/rlm/config.toml" : "project/rlm.toml"]: toml,
  });
  const path = source === "named" ? folder.at("project/rlm.toml") : undefined;
  const config = loadConfig({
    cwd: folder.at("project"),
    env: { HOME: folder.path },
    ...(path !== undefined && { path }),
  });
  return toServeSettings({ ...flags, ...(path !== undefined && { config: path }) }, config);
}

test("without a file the defaults apply", () => {
  expect(settle("")).toEqual({
    address: { host: "127.0.0.1", port: 8000 },
    allowedOrigins: [],
    graceMs: 10_000,
    limits: {
      requests: 1000,
      rate: { perSecond: 5000, burst: 10_000 },
      failures: { perSecond: 10, burst: 50 },
    },
    executions: {},
    runs: {},
    mcp: { isStructured: false },
    listen: {},
    runtime: { environment: "local", limits: {}, docker: {}, wasm: {} },
    sessionDefaults: {},
    logLevel: "info",
    logFormat: expect.stringMatching(/^(?:json|text)$/),
  });
});

const FULL = `
[server]
port = 9000
host = "0.0.0.0"
allow_hosts = ["box.example"]
allow_origins = ["https://App.example"]
grace = 3
connections = 7
requests = 5
executions = 6
runs = 4
rate = 0.2
wrong_tokens = 2
request_timeout = 20
log_level = "warn"
log_format = "json"
tools = "core"
structured = true
[sessions]
python = "/usr/bin/python3"
users = "3000000-3000999"
timeout = 0
idle_timeout = 60
include_stdlib = false
mounts = ["/srv/data:rw"]
env = { LANG = "C" }
[limits]
sessions = 3
memory = "1g"
`;

test.each(["own", "named"] as const)("a file that is %s may set everything", (source) => {
  expect(settle(FULL, {}, source)).toEqual({
    address: { host: "0.0.0.0", port: 9000, allowHost: ["box.example"] },
    allowedOrigins: ["https://app.example"],
    graceMs: 3000,
    limits: { requests: 5, rate: { perSecond: 0.2, burst: 1 }, failures: { perSecond: 2, burst: 10 } },
    executions: { running: 6 },
    runs: { maxRuns: 4 },
    mcp: { isStructured: true, tools: { choice: "core", source: "server.tools" } },
    listen: { requestMs: 20_000, maxConnections: 7 },
    runtime: {
      environment: "local",
      limits: { sessions: 3, memoryBytes: 1024 ** 3 },
      docker: {},
      wasm: {},
      python: "/usr/bin/python3",
      users: "3000000-3000999",
      timeoutMs: null,
      idleTimeoutMs: 60_000,
      mounts: [{ path: "/srv/data", mode: "rw" }],
    },
    sessionDefaults: { env: { LANG: "C" }, includeStdlib: false },
    logLevel: "warn",
    logFormat: "json",
  });
});

test("flags win", () => {
  const flags = {
    port: 1,
    host: "::1",
    allowHost: ["a"],
    allowOrigin: ["http://b"],
    grace: 0,
    logLevel: "debug",
    logFormat: "text",
    tools: "shell",
    mount: ["/srv/other"],
  } as const;
  expect(settle(FULL, flags, "own")).toMatchObject({
    address: { port: 1, host: "::1", allowHost: ["a"] },
    allowedOrigins: ["http://b"],
    graceMs: 0,
    logLevel: "debug",
    logFormat: "text",
    mcp: { tools: { choice: "shell", source: "--tools" } },
    runtime: { mounts: [{ path: "/srv/other", mode: "ro" }] },
  });
});

test.each([
  ["server.host", `[server]\nhost = "0.0.0.0"`],
  ["server.allow_hosts", `[server]\nallow_hosts = ["evil.example"]`],
  ["server.allow_origins", `[server]\nallow_origins = ["https://evil.example"]`],
  ["sessions.python", `[sessions]\npython = "./python"`],
  ["sessions.preload", `[sessions]\npreload = ["antigravity"]`],
  ["sessions.users", `[sessions]\nusers = "3000000-3000999"`],
  ["sessions.mounts", `[sessions]\nmounts = ["/etc"]`],
])("%s does not count in a project's file", (_, toml) => {
  expect(settle(toml)).toEqual(settle(""));
  expect(settle(toml, {}, "own")).not.toEqual(settle(""));
});

test("harmless settings are taken from a project's file", () => {
  expect(settle("[server]\nport = 9001\nrequests = 2\n[limits]\nsessions = 4")).toMatchObject({
    address: { host: "127.0.0.1", port: 9001 },
    limits: { requests: 2 },
    runtime: { limits: { sessions: 4 } },
  });
});

test("a wrong origin is wrong usage", () => {
  expect(() => settle("", { allowOrigin: ["app.example"] })).toThrow("'app.example' is not an origin");
});
