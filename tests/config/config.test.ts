import { expect, test } from "vitest";
import { loadConfig, type Config } from "../../src/config/config.ts";
import { DEFAULTS } from "../../src/config/settings.ts";
import { ConfigurationError } from "../../src/errors.ts";
import { Folder } from "./folder.ts";
import { load, loadText, type Inputs } from "./load.ts";

function filesOf({ files }: Config): readonly string[] {
  return files.map(({ path }) => path);
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
  const { env: _, dotEnvs, ...config } = load(folder);
  expect(dotEnvs.map(({ values }) => values)).toEqual([{}, {}]);
  expect(config).toEqual({
    files: [],
    ignored: null,
    table: { rlm: {}, sessions: {} },
    origins: new Map(),
    rlm: DEFAULTS,
    backends: {},
    prices: {},
    docker: {},
    wasm: {},
    sessions: {},
    server: {},
    limits: {},
    network: {},
    mcpServers: {},
    models: {},
  });
});

test("every section is read, with our names and units", () => {
  const toml = `
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
    max_concurrency = 8
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
    pids = 64
    network = "none"
    runtime = "runsc"
    pull = "never"
    host = "unix:///run/docker.sock"
    [wasm]
    wheels = "wheels"
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
  `;
  using folder = new Folder({ ".config/rlm/config.toml": toml, "project/x": "" });
  const { rlm, backends, prices, docker, wasm, sessions, server, limits, network, mcpServers } = load(folder);
  expect({ rlm, backends, prices, docker, wasm, sessions, server, limits, network, mcpServers }).toEqual({
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
      maxConcurrency: 8,
      cache: false,
      onLimit: "throw",
    },
    backends: { proxy: { type: "openai-compatible", baseUrl: "https://example.com/v1", apiKeyEnv: "PROXY_KEY" } },
    prices: { "a/b:c": { inputUsd: 1, outputUsd: 2.5, cacheReadUsd: 0.1, cacheWriteUsd: 1 } },
    docker: {
      image: "python:3.11-slim",
      cpus: 1,
      memoryBytes: 512 * 1024 ** 2,
      pids: 64,
      network: "none",
      runtime: "runsc",
      pull: "never",
      host: "unix:///run/docker.sock",
    },
    wasm: { wheels: folder.at(".config/rlm/wheels") },
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
  [
    "a misspelt key that is needed",
    '[models.careful]\nmodle = "x"',
    "rlm.toml:2: there is no 'models.careful.modle'; did you mean model? (and 1 more)",
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

test("the file of a strategy is relative to the file that names it", () => {
  using folder = new Folder({ "project/rlm.toml": "[rlm]\nstrategy = 'prompts/own.toml'", "project/sub/x": "" });
  expect(load(folder, { cwd: "project/sub" }).rlm.strategy).toBe(folder.at("project/prompts/own.toml"));
  const env = { RLM_STRATEGY: "small" };
  expect(load(folder, { env }).rlm.strategy).toBe("small");
  expect(problemOf("[rlm]\nstrategy = 'smal'")).toContain("'rlm.strategy' must be frontier, small, local, or a .toml");
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
    RLM_MAX_CONCURRENCY: "6",
    RLM_CACHE: "off",
    RLM_ON_LIMIT: "throw",
    RLM_STRATEGY: "own.toml",
    RLM_SYSTEM_PROMPT: "@not-a-file",
  };
  expect(loadText("[rlm]\ntimeout = 5", { env }).rlm).toEqual({
    strategy: "own.toml",
    systemPrompt: "@not-a-file",
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
    maxConcurrency: 6,
    cache: false,
    onLimit: "throw",
  });
});

test("an empty variable is ignored", () => {
  expect(loadText("[rlm]\nmodel = 'file'", { env: { RLM_MODEL: "", RLM_MAX_DEPTH: " " } }).rlm.model).toBe("file");
});

test.each([
  [{ RLM_MAX_DEPTH: "four" }, "Cannot use RLM_MAX_DEPTH: it must be a number, and is a text"],
  [{ RLM_EXTRA_BODY: "{a" }, 'Cannot use RLM_EXTRA_BODY: it must be a JSON object, such as {"top_k": 20}'],
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
  expect(filesOf(load(folder, { cwd: "a/b/c" }))).toEqual([]);
  expect(filesOf(load(folder, { cwd: "d/e" }))).toEqual([folder.at("rlm.toml")]);
  folder.write("a/rlm.toml", "[rlm]\nmodel = 'a'");
  expect(load(folder, { cwd: "a/b/c" }).rlm.model).toBe("a");
});

test("the search does not go above the home directory", () => {
  using folder = new Folder({ "rlm.toml": "[rlm]\nmodel = 'x'", "home/project/x": "" });
  expect(filesOf(load(folder, { cwd: "home/project", env: { HOME: folder.at("home") } }))).toEqual([]);
});

test("the user's own file counts, and the project's wins over it key by key", () => {
  using folder = new Folder({
    ".config/rlm/config.toml": `
      [rlm]
      model = "own"
      max_depth = 2
      [sessions]
      env = { A = "own", B = "own" }
      [backends.proxy]
      type = "openai"
      api_key_env = "OWN_KEY"`,
    "xdg/rlm/config.toml": "[rlm]\nmodel = 'xdg'",
    "project/x": "",
  });
  expect(load(folder).rlm.model).toBe("own");
  expect(load(folder, { env: { XDG_CONFIG_HOME: folder.at("xdg") } }).rlm.model).toBe("xdg");
  expect(load(folder, { env: { XDG_CONFIG_HOME: "xdg" }, cwd: "." }).rlm.model).toBe("own");
  folder.write(
    "project/rlm.toml",
    "[rlm]\nmodel = 'theirs'\n[sessions]\nenv = { B = 'theirs' }\n[backends.proxy]\ntype = 'anthropic'",
  );
  const { rlm, sessions, backends, files } = load(folder);
  expect([rlm.model, rlm.maxDepth, sessions.env, backends]).toEqual([
    "theirs",
    2,
    { A: "own", B: "theirs" },
    { proxy: { type: "anthropic" } },
  ]);
  expect(files).toEqual([
    { kind: "user-file", path: folder.at(".config/rlm/config.toml"), trust: "trusted" },
    { kind: "project-file", path: folder.at("project/rlm.toml"), trust: "new" },
  ]);
});

test("each value has its origin: the file with its line, .env, the variable or the flag", () => {
  using folder = new Folder({
    ".config/rlm/config.toml": "[rlm]\nmode = 'rlm'\nmodel = 'own'",
    "project/rlm.toml": "[rlm]\n\nmodel = 'file'\nsub_model = 'file'\nbackend = 'file'\nreasoning_effort = 'low'",
    "project/.env": "RLM_SUB_MODEL=dot\nRLM_BACKEND=dot",
  });
  const { origins } = load(folder, { env: { RLM_BACKEND: "variable" }, flags: { reasoning_effort: "high" } });
  const file = { kind: "project-file", path: folder.at("project/rlm.toml"), isApproved: false };
  expect(Object.fromEntries(origins)).toEqual({
    "rlm.mode": { kind: "user-file", path: folder.at(".config/rlm/config.toml"), line: 2, isApproved: true },
    "rlm.model": { ...file, line: 3 },
    "rlm.sub_model": {
      kind: "dot-env",
      path: folder.at("project/.env"),
      variable: "RLM_SUB_MODEL",
      isApproved: false,
    },
    "rlm.backend": { kind: "variable", variable: "RLM_BACKEND", isApproved: true },
    "rlm.reasoning_effort": { kind: "flag", flag: "--reasoning-effort", isApproved: true },
  });
});

test("RLM_PYTHON of the environment wins over the file, and that of .env does not count", () => {
  using folder = new Folder({
    ".config/rlm/config.toml": "[sessions]\npython = 'own'",
    "project/.env": "RLM_PYTHON=evil",
  });
  expect(load(folder).sessions.python).toBe("own");
  expect(load(folder, { env: { RLM_PYTHON: "mine" } }).sessions.python).toBe("mine");
  expect(load(folder, { env: { RLM_PYTHON: "" } }).sessions.python).toBe("own");
});

test("RLM_PRELOAD names modules, or none", () => {
  using folder = new Folder({
    ".config/rlm/config.toml": "[sessions]\npreload = ['numpy']",
    "project/.env": "RLM_PRELOAD=evil",
  });
  const preload = (text: string): unknown => load(folder, { env: { RLM_PRELOAD: text } }).sessions.preload;
  expect(preload("")).toEqual(["numpy"]);
  expect(preload("none")).toEqual([]);
  expect(preload(" polars, os.path,")).toEqual(["polars", "os.path"]);
});

test("an .env that is not ours can be ignored", () => {
  using folder = new Folder({ "project/.env": "this is not KEY=VALUE" });
  const options = { cwd: folder.at("project"), env: { HOME: folder.path } };
  expect(() => loadConfig(options)).toThrow("it is not KEY=VALUE");
  expect(loadConfig({ ...options, isDotEnvOptional: true }).rlm).toEqual(DEFAULTS);
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
    ".config/rlm/config.toml": "[sessions]\npython = '.venv'\nmounts = ['data:rw']",
    "project/a/x": "",
  });
  expect(load(folder, { cwd: "project/a" }).sessions).toMatchObject({
    python: folder.at(".config/rlm/.venv"),
    mounts: [folder.at(".config/rlm/data:rw")],
  });
});
