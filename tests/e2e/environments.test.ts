// The program with `--env docker` and `--env wasm`, as a user starts it.

import { describe, expect, test } from "vitest";
import { Folder } from "../config/folder.ts";
import { hasPyodide, installWasm, NO_PYODIDE, WASM_CAPABILITIES } from "../environments/wasm/open-wasm.ts";
import { findDockerEngine } from "../docker/find-engine.ts";
import { MCPProgram } from "./mcp/mcp-program.ts";
import { rlm } from "./program.ts";

const WARNING = "behind a seat belt, not a wall (sandbox tier seat-belt): 'rlm doctor --env wasm' says why";
const NOWHERE = { DOCKER_HOST: "unix:///nowhere/docker.sock" };

interface Report {
  readonly usable: boolean;
  readonly findings: readonly { readonly check: string; readonly status: string; readonly capabilities?: object }[];
}

describe.skipIf(!hasPyodide)(`wasm${hasPyodide ? "" : ` (skipped: ${NO_PYODIDE})`}`, () => {
  test("run --demo answers", { tags: "stress" }, async () => {
    installWasm();
    using folder = new Folder();
    const { code, stdout } = await rlm(["run", "--demo", "--env", "wasm"], { cwd: folder.path });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Brigid: 40 lanterns; Corvus: 75 lanterns\n" });
  });

  test("repl answers, though nothing can be undone there", { tags: "stress" }, async () => {
    installWasm();
    using folder = new Folder();
    const { code, stdout, stderr } = await rlm(["repl", "--env", "wasm"], {
      cwd: folder.path,
      stdin: "6 * 7\n:undo\n1 + 1\n",
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/42[\s\S]*2\n$/) });
    expect(stdout + stderr).toContain("does not have the capability 'checkpoint'");
  });

  test("behind the seat belt exec, run and MCP say what that is", { tags: "stress" }, async () => {
    installWasm();
    using folder = new Folder();
    const env = { RLM_SANDBOX_TIER: "seat-belt" };
    const { code, stdout, stderr } = await rlm(["exec", "--env", "wasm", "-c", "print(1)"], { cwd: folder.path, env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "1\n" });
    expect(stderr).toContain(WARNING);
    const run = await rlm(["run", "--demo", "--env", "wasm"], { cwd: folder.path, env });
    expect(run.stderr.split(WARNING)).toHaveLength(2);
    await using server = await MCPProgram.start({ args: ["--env", "wasm"], cwd: folder.path, env });
    expect(server.stderr).toContain(WARNING);
    expect(await server.call("execute_python", { code: "1" })).toBe("→ 1"); // the instructions have said it
    expect(await server.call("list_repl_sessions", {})).toContain(WARNING);
  });

  test("mcp-serve runs Python", { tags: "stress" }, async () => {
    installWasm();
    using folder = new Folder();
    await using server = await MCPProgram.start({ args: ["--env", "wasm"], cwd: folder.path });
    expect(await server.call("python", { code: "import sys; print(sys.platform)" })).toContain("emscripten");
    expect(await server.call("shell", { command: "true" })).toContain("does not have the capability 'shell'");
  });

  test("doctor tries sessions where rlm.toml says, and shows what they can do", async () => {
    installWasm();
    using folder = new Folder({ "rlm.toml": '[rlm]\nenvironment = "wasm"\n' });
    const { code, stdout } = await rlm(["doctor", "--json"], { cwd: folder.path, env: NOWHERE });
    const { usable, findings } = JSON.parse(stdout) as Report;
    expect({ code, usable }).toEqual({ code: 0, usable: true });
    expect(findings.find(({ check }) => check === "environment")?.capabilities).toEqual(WASM_CAPABILITIES);
    expect(findings.find(({ check }) => check === "python")).toMatchObject({
      found: expect.stringMatching(/^3\.14\.\d+ in WebAssembly$/),
    });
    expect(findings.find(({ check }) => check === "wasm")).toMatchObject({
      status: "ok",
      found: expect.stringMatching(/^Pyodide [\d.]+ in /),
    });
  });
});

test("doctor says that Pyodide and an engine are not there, and that only these environments need them", async () => {
  using folder = new Folder();
  const { code, stdout } = await rlm(["doctor"], {
    cwd: folder.path,
    env: { ...NOWHERE, RLM_DATA: folder.at("data") },
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^ok {4}docker {7}there is no Docker engine at unix:\/\/\/nowhere\/docker\.sock; only --env docker needs it\. Start Docker/m,
  );
  expect(stdout).toMatch(/^ok {4}wasm {9}.* is not installed; only --env wasm needs it\. .*rlm env add wasm$/m);
});

test.each([
  [["wasm", "--image", "python:3.12"], "--image is for the 'docker' environment"],
  [["wasm", "--python", "python3"], "--python is for the 'docker' environment"],
  [["docker", "--force"], "--force is for the 'wasm' environment"],
  [["docker", "--package", "pyodide.tgz"], "--package is for the 'wasm' environment"],
  [["local", "--force"], "--force is for the 'wasm' environment"],
])("env add %j is wrong usage: the option is for another environment", async (args, why) => {
  using folder = new Folder();
  const { code, stdout, stderr } = await rlm(["env", "add", ...args], { cwd: folder.path, env: NOWHERE });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(why);
});

test("doctor --env docker fails without an engine, with the fix", async () => {
  using folder = new Folder();
  const { code, stdout } = await rlm(["doctor", "--env", "docker"], { cwd: folder.path, env: NOWHERE });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail {2}sandbox {6}there is no Docker engine at .*\n {19}fix: Start Docker/m);
});

const engine = await findDockerEngine();
const DOCKER_HOST = "host" in engine ? engine.host : "";

describe.skipIf("why" in engine)(`docker${"why" in engine ? ` (skipped: ${engine.why})` : ""}`, () => {
  test("run --demo answers, where rlm.toml names the environment", { tags: "stress" }, async () => {
    using folder = new Folder({ "rlm.toml": '[rlm]\nenvironment = "docker"\n' });
    const { code, stdout } = await rlm(["run", "--demo"], { cwd: folder.path, env: { DOCKER_HOST } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Brigid: 40 lanterns; Corvus: 75 lanterns\n" });
  });

  test("mcp-serve runs Python and commands in one container, also where it cannot show the project", async () => {
    using folder = new Folder(); // only its owner, root, can read it
    await using server = await MCPProgram.start({
      args: ["--env", "docker"],
      cwd: folder.path,
      env: { DOCKER_HOST },
    });
    expect(
      await server.call("execute_python", { code: "open('f', 'w').write('of Python'); import os; os.getuid()" }),
    ).toContain("65534");
    expect(await server.call("shell", { command: "cat f" })).toContain("of Python");
  });

  test("doctor names the engine, its version and the image; sessions there are tried with --env docker", async () => {
    using folder = new Folder();
    const { code, stdout } = await rlm(["doctor", "--env", "docker"], { cwd: folder.path, env: { DOCKER_HOST } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(` at ${DOCKER_HOST}, image '`) });
    expect(stdout).toMatch(/^ok {4}docker {7}engine [\d.]+\S* at \S+, image '\S+' is there$/m);
    expect(stdout).toMatch(/^ok {4}environment {2}docker: fork yes, .*, inspectWhileRunning yes, network none/m);
  });
});
