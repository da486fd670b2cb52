import { expect, test } from "vitest";
import { backendVariables, chooseBackend } from "../../src/config/choose-backend.ts";
import { loadConfig, type Config, type Flags } from "../../src/config/config.ts";
import { DEFAULTS } from "../../src/config/settings.ts";
import { ConfigurationError } from "../../src/errors.ts";
import { Folder } from "./folder.ts";

interface Inputs {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Flags;
  readonly cwd?: string;
}

/** The folder is the home directory, and `project` in it the current one by default. */
function load(folder: Folder, { env = {}, flags = {}, cwd = "project" }: Inputs = {}): Config {
  return loadConfig({ cwd: folder.at(cwd), env: { HOME: folder.path, ...env }, flags });
}

function loadText(toml: string, inputs?: Inputs): Config {
  using folder = new Folder({ "project/rlm.toml": toml });
  return load(folder, inputs);
}

function problemOf(toml: string, inputs?: Inputs): string {
  using folder = new Folder({ "project/rlm.toml": toml });
  try {
    load(folder, inputs);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message.replaceAll(`${folder.at("project")}/`, "");
  }
  throw new Error("it was accepted");
}

test("without any configuration the defaults apply", () => {
  using folder = new Folder({ "project/other": "" });
  const { env: _, ...config } = load(folder);
  expect(config).toEqual({
    path: null,
    dotEnv: {},
    agreedUrl: undefined,
    isOwnFile: false,
    rlm: DEFAULTS,
    backends: {},
    prices: {},
    docker: {},
    sessions: {},
    server: {},
    limits: {},
    network: {},
    mcpServers: {},
  });
});

test("every section is read, with our names and units", () => {
  const { rlm, backends, prices, docker, sessions, server, limits, network, mcpServers } = loadText(`
    [rlm]
    model = "a"
    sub_model = "b"
    backend = "proxy"
    base_url = "http://localhost:1/v1"
    environment = "docker"
    mode = "rlm"
    max_depth = 2
    max_iterations = 5
    token_budget = 8000
    cost_budget = 0.5
    call_budget = 10
    tool_budget = 7
    timeout = 1.5
    cache = false
    on_limit = "throw"
    [backends.proxy]
    type = "openai-compatible"
    base_url = "https://example.com/v1"
    api_key_env = "PROXY_KEY"
    [prices."a/b:c"]
    input = 1
    output = 2.5
    cache_read = 0.1
    [docker]
    image = "python:3.11-slim"
    cpus = 1.0
    memory = "512m"
    [sessions]
    python = "python3"
    timeout = 10
    env = { A = "1" }
    [server]
    port = 0
    allow_hosts = ["box.example"]
    [limits]
    memory = "1g"
    kept_output = 1000
    total_output = "2g"
    processes = 64
    [network]
    allow = ["pypi.org"]
    [mcp_servers.docs]
    url = "https://example.com/mcp"
    token_env = "DOCS_TOKEN"
  `);
  expect({ rlm, backends, prices, docker, sessions, server, limits, network, mcpServers }).toEqual({
    rlm: {
      model: "a",
      subModel: "b",
      backend: "proxy",
      baseUrl: "http://localhost:1/v1",
      environment: "docker",
      mode: "rlm",
      maxDepth: 2,
      maxIterations: 5,
      tokenBudget: 8000,
      costBudgetUsd: 0.5,
      callBudget: 10,
      toolBudget: 7,
      timeoutMs: 1500,
      cache: false,
      onLimit: "throw",
    },
    backends: { proxy: { type: "openai-compatible", baseUrl: "https://example.com/v1", apiKeyEnv: "PROXY_KEY" } },
    prices: { "a/b:c": { inputUsd: 1, outputUsd: 2.5, cacheReadUsd: 0.1, cacheWriteUsd: 1 } },
    docker: { image: "python:3.11-slim", cpus: 1, memory: 512 * 1024 ** 2 },
    sessions: { python: "python3", timeout: 10, env: { A: "1" } },
    server: { port: 0, allow_hosts: ["box.example"] },
    limits: { memoryBytes: 1024 ** 3, keptOutputBytes: 1000, totalOutputBytes: 2 * 1024 ** 3, processes: 64 },
    network: { allow: ["pypi.org"] },
    mcpServers: { docs: { url: "https://example.com/mcp", token_env: "DOCS_TOKEN" } },
  });
});

test.each([
  [
    "an unknown key",
    '[rlm]\nmodel = "a"\nmax_dept = 3',
    "rlm.toml:3: there is no 'rlm.max_dept'; did you mean max_depth?",
  ],
  ["camel case", "[rlm]\ntokenBudget = 3", "rlm.toml:2: there is no 'rlm.tokenBudget'; did you mean token_budget?"],
  ["an unknown section", "[rml]\n", "rlm.toml:1: there is no 'rml'; did you mean rlm?"],
  ["a key at the top", 'model = "a"', "rlm.toml:1: there is no 'model' at the top; it belongs under [rlm]"],
  ["nothing near", "[docker]\nzebra = 1", "rlm.toml:2: there is no 'docker.zebra'; known are image, cpus, memory"],
  ["a wrong type", '\n[rlm]\nmax_depth = "4"', "rlm.toml:3: 'rlm.max_depth' must be a number, and is a text"],
  [
    "a fraction",
    "[rlm]\nmax_depth = 1.5",
    "rlm.toml:2: 'rlm.max_depth' must be a whole number, and is a number with a fraction",
  ],
  ["a number for a text", "[rlm]\nmodel = 5", "rlm.toml:2: 'rlm.model' must be a text in quotes, and is a number"],
  ["an empty text", '[rlm]\nmodel = ""', "rlm.toml:2: 'rlm.model' must not be empty"],
  [
    "another word",
    '[rlm]\nmode = "rml"',
    `rlm.toml:2: 'rlm.mode' must be "auto" or "rlm" or "direct"; did you mean "rlm"?`,
  ],
  ["too little", "[rlm]\ntoken_budget = 0", "rlm.toml:2: 'rlm.token_budget' must be at least 1"],
  ["no money", "[rlm]\ncost_budget = 0", "rlm.toml:2: 'rlm.cost_budget' must be more than 0"],
  ["a table for a value", "[rlm.model]\nx = 1", "rlm.toml:1: 'rlm.model' must be a text in quotes, and is a table"],
  ["a dotted key", "rlm.max_depth = true", "rlm.toml:1: 'rlm.max_depth' must be a number, and is true or false"],
  [
    "an inline table",
    "\nrlm = { max_depth = 1, modle = 'x' }",
    "rlm.toml:2: there is no 'rlm.modle'; did you mean model?",
  ],
  [
    "no address",
    '[rlm]\nbase_url = "localhost"',
    "rlm.toml:2: 'rlm.base_url' must be an address that begins with http:// or https://",
  ],
  ["no size", '[limits]\nmemory = "much"', `rlm.toml:2: 'limits.memory' must be a size such as "512m" or "4g"`],
  ["a price without its half", '[prices."m.x"]\ninput = 1', `rlm.toml:1: 'prices."m.x".output' is missing`],
  [
    "a server of no kind",
    "[mcp_servers.a]\nargs = []",
    "rlm.toml:1: 'mcp_servers.a' needs either command (a program) or url (an address)",
  ],
  [
    "a key after a long text",
    "[rlm]\nmodel = '''\n[docker]\nmax_dept = 1\n'''\nmax_dept = 1",
    "rlm.toml:6: there is no 'rlm.max_dept'; did you mean max_depth?",
  ],
  [
    "several mistakes",
    "[rlm]\nmax_depth = -1\nmodle = 'x'",
    "rlm.toml:2: 'rlm.max_depth' must be at least 0 (and 1 more)",
  ],
  ["no TOML", "[rlm]\nmodel = \n", "rlm.toml:2: it is not TOML: "],
  ["a key twice", "[rlm]\nmodel = 'a'\nmodel = 'b'", "rlm.toml:3: it is not TOML: "],
])("%s is refused: the message names file, line and key", (_, toml, message) => {
  expect(problemOf(toml)).toContain(message);
});

test.each([
  "[backends.openai]\napi_key = 'sk-secret'",
  "[rlm]\napi-key = 'sk-secret'",
  "[backends.openai]\ntoken = 'sk-secret'",
])("a secret in the file is refused with the fix, and not repeated: %j", (toml) => {
  const message = problemOf(toml);
  expect(message).toMatch(/^Cannot use rlm\.toml:2: '.*' is not read: a secret does not belong in this file/);
  expect(message).toContain('api_key_env = "OPENAI_API_KEY"');
  expect(message).not.toContain("sk-secret");
});

test("a secret beside a syntax error is not repeated either", () => {
  expect(problemOf("[backends.openai]\napi_key = 'sk-secret' x")).not.toContain("sk-secret");
});

test("a file that is too long is not read", () => {
  expect(problemOf("#".repeat(1024 * 1024 + 1))).toContain("more than 1048576");
});

test("flags win over variables, variables over the file, the file over the defaults", () => {
  const toml = "[rlm]\nmodel = 'file'\nsub_model = 'file'\nmax_depth = 1";
  const env = { RLM_MODEL: "variable", RLM_SUB_MODEL: "variable" };
  const { model, subModel, maxDepth, mode } = loadText(toml, { env, flags: { model: "flag" } }).rlm;
  expect({ model, subModel, maxDepth, mode }).toEqual({
    model: "flag",
    subModel: "variable",
    maxDepth: 1,
    mode: "auto",
  });
});

test("every key of [rlm] is a variable", () => {
  const env = {
    RLM_MODEL: "a",
    RLM_SUB_MODEL: "b",
    RLM_BACKEND: "c",
    RLM_BASE_URL: "http://localhost",
    RLM_ENVIRONMENT: "wasm",
    RLM_MODE: "direct",
    RLM_MAX_DEPTH: "0",
    RLM_MAX_ITERATIONS: "2",
    RLM_TOKEN_BUDGET: "3",
    RLM_COST_BUDGET: ".5",
    RLM_CALL_BUDGET: "4",
    RLM_TOOL_BUDGET: "5",
    RLM_TIMEOUT: "0",
    RLM_CACHE: "off",
    RLM_ON_LIMIT: "throw",
  };
  expect(loadText("[rlm]\ntimeout = 5", { env }).rlm).toEqual({
    model: "a",
    subModel: "b",
    backend: "c",
    baseUrl: "http://localhost",
    environment: "wasm",
    mode: "direct",
    maxDepth: 0,
    maxIterations: 2,
    tokenBudget: 3,
    costBudgetUsd: 0.5,
    callBudget: 4,
    toolBudget: 5,
    timeoutMs: null,
    cache: false,
    onLimit: "throw",
  });
});

test("an empty variable is ignored", () => {
  expect(loadText("[rlm]\nmodel = 'file'", { env: { RLM_MODEL: "", RLM_MAX_DEPTH: " " } }).rlm.model).toBe("file");
});

test.each([
  [{ RLM_MAX_DEPTH: "four" }, "Cannot use RLM_MAX_DEPTH: it must be a number, and is a text"],
  [{ RLM_CACHE: "perhaps" }, "Cannot use RLM_CACHE: it must be true or false, and is a text"],
  [
    { RLM_ENVIRONMENT: "dokcer" },
    `Cannot use RLM_ENVIRONMENT: it must be "local" or "docker" or "wasm"; did you mean "docker"?`,
  ],
  [{ RLM_TOKEN_BUDGET: "-5" }, "Cannot use RLM_TOKEN_BUDGET: it must be at least 1"],
])("the error names the variable: %j", (env, message) => {
  expect(problemOf("", { env })).toBe(message);
});

test("rlm.toml is found in parent folders, up to the one that contains .git", () => {
  using folder = new Folder({ "rlm.toml": "[rlm]\nmodel = 'top'", "a/b/c/x": "", "a/.git/x": "", "d/e/x": "" });
  expect(load(folder, { cwd: "a/b/c" }).path).toBe(null);
  expect(load(folder, { cwd: "d/e" }).path).toBe(folder.at("rlm.toml"));
  folder.write("a/rlm.toml", "[rlm]\nmodel = 'a'");
  expect(load(folder, { cwd: "a/b/c" }).rlm.model).toBe("a");
});

test("the search does not go above the home directory", () => {
  using folder = new Folder({ "rlm.toml": "[rlm]\nmodel = 'x'", "home/project/x": "" });
  expect(load(folder, { cwd: "home/project", env: { HOME: folder.at("home") } }).path).toBe(null);
});

test("the user's own file counts if the project has none", () => {
  using folder = new Folder({
    ".config/rlm/config.toml": "[rlm]\nmodel = 'own'",
    "xdg/rlm/config.toml": "[rlm]\nmodel = 'xdg'",
    "project/x": "",
  });
  expect(load(folder).rlm.model).toBe("own");
  expect(load(folder, { env: { XDG_CONFIG_HOME: folder.at("xdg") } }).rlm.model).toBe("xdg");
  folder.write("project/rlm.toml", "");
  expect(load(folder).rlm.model).toBe(undefined);
});

test("a file that is named must exist", () => {
  using folder = new Folder();
  const asked = { cwd: folder.path, env: { HOME: folder.path }, path: "gone.toml" };
  expect(() => loadConfig(asked)).toThrow(`Cannot use ${folder.at("gone.toml")}: there is no such file`);
});

test(".env beside rlm.toml adds to the environment, and existing variables win", () => {
  using folder = new Folder({
    "project/rlm.toml": "",
    "project/.env": "RLM_MODEL=dot\nRLM_MODE=rlm\nA_KEY=secret",
    "project/below/.env": "RLM_MODEL=below",
  });
  const { rlm, env } = load(folder, { cwd: "project/below", env: { RLM_MODEL: "real" } });
  expect([rlm.model, rlm.mode, env["A_KEY"]]).toEqual(["real", "rlm", "secret"]);
});

test(".env in the current folder counts if there is no rlm.toml", () => {
  using folder = new Folder({ "project/.env": "RLM_MODEL=dot" });
  expect(load(folder).rlm.model).toBe("dot");
});

test("paths in the file are relative to its folder", () => {
  using folder = new Folder({
    "project/rlm.toml": "[sessions]\npython = '.venv'\nmounts = ['data:rw']",
    "project/a/x": "",
  });
  expect(load(folder, { cwd: "project/a" }).sessions.mounts).toEqual([folder.at("project/data:rw")]);
});

test("a custom backend has a type, an address and a key variable", () => {
  const toml =
    "[rlm]\nbackend = 'proxy'\n[backends.proxy]\ntype = 'openai-compatible'\nbase_url = 'http://localhost:1'\napi_key_env = 'K'";
  expect(chooseBackend(loadText(toml, { env: { K: "s" } }))).toEqual({
    backend: "openai-compatible",
    baseUrl: "http://localhost:1",
    apiKey: "s",
  });
  expect(() => chooseBackend(loadText(toml))).toThrow(/takes its key from K, which is not set/);
  const flags = { baseUrl: "http://localhost:2", backend: "openai" };
  expect(chooseBackend(loadText(toml, { flags }))).toEqual({ backend: "openai", baseUrl: "http://localhost:2" });
  expect(chooseBackend(loadText(""))).toEqual({ backend: "openai" });
  expect(chooseBackend(loadText("[rlm]\nmodel = 'claude-x'"))).toEqual({ backend: "anthropic" });
  expect(chooseBackend(loadText("", { flags: { baseUrl: "http://localhost:1" } })).backend).toBe("openai-compatible");
});

test("a project cannot send the user's key to its own address", () => {
  const env = { OPENAI_API_KEY: "real" };
  const elsewhere = "[rlm]\nbase_url = 'https://elsewhere.example/v1'\nbackend = 'openai'\n";
  const choose = (toml: string, inputs: Inputs = { env }): unknown => chooseBackend(loadText(toml, inputs));
  expect(() => choose(elsewhere)).toThrow(/it would send the key in OPENAI_API_KEY to elsewhere\.example/);
  expect(() => choose(elsewhere)).not.toThrow(/real/);
  const named = `${elsewhere.replace("'openai'", "'a'")}\n[backends.a]\ntype = 'openai-compatible'\napi_key_env = 'OPENAI_API_KEY'`;
  expect(() => choose(named)).toThrow(/it would send the key in OPENAI_API_KEY/);
  const url = "https://elsewhere.example/v1";
  expect(choose(elsewhere, { env, flags: { baseUrl: url } })).toMatchObject({ baseUrl: url });
  expect(choose(elsewhere, { env: { ...env, RLM_BASE_URL: url } })).toMatchObject({ baseUrl: url });
  expect(choose(elsewhere, {})).toMatchObject({ baseUrl: url });
  expect(choose(elsewhere.replace("'openai'", "'openai-compatible'"))).toMatchObject({ baseUrl: url });
  expect(choose("[rlm]\nbackend = 'openai'\nbase_url = 'http://127.0.0.1:1/v1'")).toMatchObject({
    baseUrl: "http://127.0.0.1:1/v1",
  });
  expect(() => choose("[rlm]\nbackend = 'openai'\nbase_url = 'http://127.0.0.1.elsewhere.example/v1'")).toThrow(
    /it would send/,
  );
});

test("nor can an .env without a key; the user's own file can", () => {
  const url = "https://elsewhere.example/v1";
  using folder = new Folder({ "project/.env": `RLM_BACKEND=openai\nRLM_BASE_URL=${url}`, ".config/rlm/x": "" });
  const env = { OPENAI_API_KEY: "real" };
  expect(() => chooseBackend(load(folder, { env }))).toThrow(/it would send/);
  folder.write("project/.env", `RLM_BACKEND=openai\nRLM_BASE_URL=${url}\nOPENAI_API_KEY=its-own`);
  expect(chooseBackend(load(folder))).toMatchObject({ baseUrl: url });
  folder.write("project/.env", "");
  folder.write(".config/rlm/config.toml", `[rlm]\nbackend = 'openai'\nbase_url = '${url}'`);
  expect(chooseBackend(load(folder, { env }))).toMatchObject({ baseUrl: url });
});

test("backends see the keys of .env, and addresses that have their key beside them", () => {
  using folder = new Folder({
    "project/.env": [
      "OPENAI_API_KEY=1",
      "OPENAI_BASE_URL=https://a.example",
      "ANTHROPIC_BASE_URL=https://b.example",
      "OLLAMA_BASE_URL=http://localhost:1",
      "NODE_OPTIONS=--require=evil",
      "RLM_PYTHON=./evil",
    ].join("\n"),
  });
  expect(backendVariables(load(folder))).toEqual({
    OPENAI_API_KEY: "1",
    OPENAI_BASE_URL: "https://a.example",
    OLLAMA_BASE_URL: "http://localhost:1",
  });
});
