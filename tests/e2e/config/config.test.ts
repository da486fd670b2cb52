// `rlm config`, and the commands that read rlm.toml.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Folder } from "../../config/folder.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { PYTHON } from "../../open.ts";
import type { IgnoredSettings as Ignored } from "../../../src/config/config.ts";
import { rlm, type Ended } from "../program.ts";
import { KEYS, TestTerminal } from "../terminal.ts";

let folder: Folder;
beforeEach(() => {
  folder = new Folder({ "project/x": "" });
  makeDataFolder(folder.at("data"));
});
afterEach(() => folder[Symbol.dispose]());

const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  const own = { HOME: folder.path, XDG_CONFIG_HOME: "", RLM_DATA: folder.at("data"), RLM_MODEL: "", RLM_PYTHON: "" };
  const path = `/usr/bin:${process.env["PATH"]}`; // python3 on the PATH may be a shim that takes its time
  return rlm(args, { cwd: folder.at("project"), env: { PATH: path, ...own, ...more } });
};

describe("config show", () => {
  test("every setting has its value and its origin", async () => {
    folder.write(".config/rlm/config.toml", "[limits]\nmemory = '1g'\n");
    folder.write("project/rlm.toml", "[rlm]\nmax_depth = 2\n\nmodel = 'm'\n");
    folder.write("project/.env", "RLM_MODE=rlm\n");
    const { code, stdout, stderr } = await run(["config", "show", "--max-iterations", "9"], {
      RLM_BACKEND: "scripted",
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^rlm\.toml \(not trusted\), which wins over ~\/\.config\/rlm\/config\.toml\n\nSETTING +VALUE +ORIGIN\n/,
    );
    expect(stdout).toMatch(/^rlm\.model +"m" +rlm\.toml:4$/m);
    expect(stdout).toMatch(/^rlm\.mode +"rlm" +RLM_MODE in \.env$/m);
    expect(stdout).toMatch(/^rlm\.backend +"scripted" +RLM_BACKEND$/m);
    expect(stdout).toMatch(/^rlm\.max_iterations +9 +--max-iterations$/m);
    expect(stdout).toMatch(/^rlm\.call_budget +1000 +default$/m);
    expect(stdout).toMatch(/^limits\.memory +1\.0 GiB +~\/\.config\/rlm\/config\.toml:2$/m);
  });

  test("--json prints one object and nothing else", async () => {
    folder.write("project/rlm.toml", "[sessions]\npython = 'python3'\n[rlm]\nmodel = 'm'\n");
    const { stdout, stderr } = await run(["config", "show", "--json"]);
    const path = folder.at("project/rlm.toml");
    const { files, ignored, settings } = JSON.parse(stdout) as Record<string, unknown>;
    expect(files).toEqual([{ kind: "project-file", path, trust: "new" }]);
    expect(ignored).toEqual({ path, names: ["sessions.python"], trust: "new" });
    expect(settings).toContainEqual({ key: "rlm.model", value: "m", origin: { kind: "project-file", path, line: 4 } });
    expect(settings).toContainEqual({ key: "rlm.mode", value: "auto", origin: { kind: "default" } });
    expect(stderr).toMatch(/^rlm: ignored sessions\.python of /);
  });

  test.each([[[]], [["--json"]]])("secrets are not shown, with %j", async (more) => {
    folder.write(
      ".config/rlm/config.toml",
      `
      [rlm]
      base_url = "https://me:planted1@llm.example/v1?key=planted2"
      extra_body = { tools = [{ headers = { Authorization = "planted11" }, url = "https://planted12@mcp.example" }] }
      [models.a]
      model = "m"
      extra_body = { api_key = "planted13", top_k = 4321 }
      [sessions]
      env = { DATABASE = "planted3" }
      [mcp_servers.a]
      command = "serve"
      args = ["--token", "planted4", "--api-key=planted5", "--port=1", "-H", "Authorization: Bearer planted10"]
      env = { TOKEN = "planted6" }`,
    );
    folder.write("project/.env", "ANTHROPIC_API_KEY=planted7\n");
    const { stdout, stderr } = await run(["config", "show", ...more], {
      OPENAI_API_KEY: "planted8",
      RLM_TOKEN: "planted9",
    });
    expect(stdout + stderr).not.toContain("planted");
    expect(stdout).toContain("llm.example/v1");
    expect(stdout).toMatch(/mcp\.example[^]*4321/);
    expect(stdout).toContain("--port=1");
    for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "RLM_TOKEN", "DATABASE"]) expect(stdout).toContain(name);
  });

  test("a mistake in a file is an error that names the line", async () => {
    folder.write("project/rlm.toml", "[sessions]\npyhton = 'x'\n");
    const { code, stderr } = await run(["config", "show"]);
    expect([code, stderr]).toEqual([
      2,
      `rlm: cannot use ${folder.at("project/rlm.toml")}:2: there is no 'sessions.pyhton'; did you mean python?\n`,
    ]);
  });
});

describe("trust", () => {
  const TOML = `[sessions]
python = ${JSON.stringify(PYTHON)}
mounts = ["../shown"]
env = { COLOUR = "red" }
`;
  const CODE = "import os; print(os.environ['COLOUR'], os.path.exists(os.environ['SHOWN']))";

  test("exec uses a project's file, but its mounts and its Python only when it is trusted", async () => {
    folder.write("shown/note", "");
    const path = folder.write("project/rlm.toml", TOML);
    const exec = (): Promise<Ended> => run(["exec", "-e", `SHOWN=${folder.at("shown/note")}`, "-c", CODE]);
    const ignored = (why: string): string =>
      `rlm: ignored sessions.python, sessions.mounts of ${path}: ${why}. 'rlm config trust' shows them and trusts the file\n`;
    expect(await exec()).toEqual({ code: 0, stdout: "red False\n", stderr: ignored("the file is not trusted") });

    const refused = await run(["config", "trust"]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      "rlm: not trusted: there is no terminal to ask on. Add --yes if it is right\n",
    ]);
    expect(refused.stdout).toContain(`${path} is not trusted. These settings would begin to count:\n`);
    expect(refused.stdout).toContain(`line 2: sessions.python = ${JSON.stringify(PYTHON)}`);
    expect(refused.stdout).toContain(`line 3: sessions.mounts = ["${folder.at("shown")}"]`);

    expect(await run(["config", "trust", "--yes"])).toMatchObject({ code: 0, stderr: "" });
    expect(await exec()).toEqual({ code: 0, stdout: "red True\n", stderr: "" });
    expect((await run(["config", "trust"])).stdout).toContain("is trusted already");

    folder.write("project/rlm.toml", `${TOML}timeout = 600\n`);
    const changed = "the file has changed since it was trusted";
    expect(await exec()).toEqual({ code: 0, stdout: "red False\n", stderr: ignored(changed) });
    expect((await run(["config", "trust", "--yes"])).stdout).toContain("It has changed since you trusted it.");
    expect((await run(["config", "untrust"])).stdout).toBe(`${path} is not trusted any more.\n`);
    expect((await exec()).stdout).toBe("red False\n");
  });

  test.each([
    ["y", 0, "Trusted until the file changes", null],
    ["n", 1, "Not trusted: these settings stay ignored", "new"],
    ["", 1, "Not trusted: these settings stay ignored", "new"],
  ])("on a terminal it asks; the answer is '%s'", async (answer, code, line, state) => {
    folder.write("project/rlm.toml", TOML);
    const env = { HOME: folder.path, RLM_DATA: folder.at("data"), NO_COLOR: "1" };
    await using terminal = new TestTerminal(["config", "trust"], { env, cwd: folder.at("project") });
    await terminal.untilRaw(/Trust it\? \[y\/N\]/);
    terminal.type(answer + KEYS.enter);
    await terminal.untilRaw(new RegExp(line));
    expect(await terminal.ended).toBe(code);
    const { ignored } = JSON.parse((await run(["config", "show", "--json"])).stdout) as { ignored: Ignored | null };
    expect(ignored?.trust ?? null).toBe(state);
  });

  test("the user's own file and --config need no trust, and flags win", async () => {
    folder.write("shown/note", "");
    folder.write(".config/rlm/config.toml", `[sessions]\nmounts = [${JSON.stringify(folder.at("shown"))}]\n`);
    const code = `import os; print(os.path.exists(${JSON.stringify(folder.at("shown/note"))}))`;
    expect(await run(["exec", "-c", code])).toEqual({ code: 0, stdout: "True\n", stderr: "" });
    const other = ["--mount", folder.at("project")];
    expect(await run(["exec", ...other, "-c", code])).toEqual({ code: 0, stdout: "False\n", stderr: "" });
    folder.write("named.toml", "[sessions]\nenv = { COLOUR = 'blue' }\n");
    const named = ["exec", "--config", "../named.toml", "-c", `${code}; print(os.environ['COLOUR'])`];
    expect(await run(named)).toEqual({ code: 0, stdout: "True\nblue\n", stderr: "" });
  });

  test.each([
    ["exec", ["exec", "-c", "1"]],
    ["repl", ["repl"]],
    ["run", ["run", "--demo"]],
    ["mcp-serve", ["mcp-serve"]],
  ])("%s says what it ignores, once", async (_, args) => {
    const path = folder.write("project/rlm.toml", "[sessions]\nmounts = ['/nowhere']\n");
    const { code, stderr } = await run(args);
    expect(code).toBe(0);
    const line = `rlm: ignored sessions.mounts of ${path}: the file is not trusted. 'rlm config trust' shows it and trusts the file\n`;
    expect(stderr.split(line)).toHaveLength(2);
  });

  test("doctor shows it", async () => {
    const path = folder.write("project/rlm.toml", "[sessions]\nmounts = ['/nowhere']\n");
    const { stdout } = await run(["doctor"]);
    expect(stdout).toContain(
      `warn  config       ${path} is not trusted, so these are ignored: sessions.mounts\n${" ".repeat(19)}fix: 'rlm config trust'`,
    );
  });

  test("the values cannot hide anything from the terminal", async () => {
    folder.write(
      "project/rlm.toml",
      String.raw`[mcp_servers."a\u001b[2K"]` + '\ncommand = "x\\u202e\\u009b2Ky\\u0008"\n',
    );
    const { stdout } = await run(["config", "trust", "--yes"]);
    expect(stdout).toContain(String.raw`mcp_servers."a\u001b[2K" = {"command":"x\u202e\u009b2Ky\b"}`);
  });

  test("nor can the name of its folder", async () => {
    folder.write("a\u001B[2Kb/rlm.toml", "[network]\nallow = ['a.example']\n");
    const own = { HOME: folder.path, RLM_DATA: folder.at("data") };
    const { stdout } = await rlm(["config", "trust", "--yes"], { cwd: folder.at("a\u001B[2Kb"), env: own });
    expect(stdout).toContain(String.raw`a\u001b[2Kb/rlm.toml is not trusted`);
    expect(stdout).not.toContain("\u001B");
  });

  test("the variable that is sent to an address is shown with it", async () => {
    folder.write(
      "project/rlm.toml",
      "[backends.a]\ntype = 'openai'\nbase_url = 'https://a.example'\napi_key_env = 'GITHUB_TOKEN'\n",
    );
    const { stdout } = await run(["config", "trust", "--yes"]);
    expect(stdout).toContain('line 4: backends.a.api_key_env = "GITHUB_TOKEN"\n      the variable of your environment');
  });

  test("so are fields of requests", async () => {
    folder.write("project/rlm.toml", "[models.a]\nmodel = 'm'\nextra_body = { background = true }\n");
    const ignored = await run(["config", "show"]);
    expect(ignored.stdout).not.toContain("background");
    const { stdout } = await run(["config", "trust", "--yes"]);
    expect(stdout).toContain(
      'line 3: models.a.extra_body = {"background":true}\n      fields of every request to a model',
    );
    expect((await run(["config", "show"])).stdout).toMatch(/models\.a\.extra_body +\{"background":true\}/);
  });

  test("a file without anything to trust needs none", async () => {
    folder.write("project/rlm.toml", "[rlm]\nmax_depth = 1\n");
    expect((await run(["config", "trust"])).stdout).toMatch(/^Nothing in .*rlm\.toml needs trust/);
    folder.write("elsewhere/x", "");
    const nothing = await rlm(["config", "trust"], { cwd: folder.at("elsewhere"), env: { HOME: folder.path } });
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringMatching(/^rlm: there is no rlm\.toml in /)]);
  });
});

test("exec takes limits, the time limit and the environment from the file", async () => {
  folder.write("project/rlm.toml", "[limits]\nmemory = '128m'\n[sessions]\ntimeout = 0.3\n");
  const big = await run(["exec", "--timeout", "0", "-c", "x = bytearray(500_000_000)"]);
  expect([big.code, big.stderr]).toEqual([1, expect.stringContaining("MemoryError")]);
  expect(await run(["exec", "-c", "while True: pass"])).toMatchObject({ code: 124 });
  vi.stubEnv("DOCKER_HOST", "unix:///nowhere/docker.sock");
  folder.write("project/rlm.toml", "[rlm]\nenvironment = 'docker'\n");
  expect(await run(["exec", "-c", "1"])).toMatchObject({ code: 70, stderr: expect.stringContaining("'docker'") });
  expect(await run(["exec", "--env", "local", "-c", "print(1)"])).toMatchObject({ code: 0, stdout: "1\n" });
  vi.unstubAllEnvs();
});

test("an .env that is not ours does not stop exec", async () => {
  folder.write("project/.env", "not ours\n");
  expect(await run(["exec", "-c", "print(1)"])).toEqual({ code: 0, stdout: "1\n", stderr: "" });
});

test("config path prints the paths", async () => {
  folder.write("project/rlm.toml", "");
  expect(JSON.parse((await run(["config", "path", "--json"])).stdout)).toEqual({
    project: folder.at("project/rlm.toml"),
    user: folder.at(".config/rlm/config.toml"),
    data: folder.at("data"),
  });
});
