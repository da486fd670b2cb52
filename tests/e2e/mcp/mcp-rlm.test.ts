// `rlm_query` of the built program: offered if a model is configured and the user has approved its address.

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { MCPProgram } from "./mcp-program.ts";
import { rlm } from "../program.ts";
import { remove } from "../../remove.ts";

let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-mcp-rlm-")));
  mkdirSync(join(folder, "project"));
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "RLM_MODEL", "RLM_BACKEND", "RLM_BASE_URL"])
    vi.stubEnv(name, undefined);
  env = { HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), RLM_DATA: makeDataFolder(join(folder, "data")) };
});
afterEach(() => {
  vi.unstubAllEnvs();
  remove(folder);
});

const start = (more: Record<string, string> = {}): Promise<MCPProgram> =>
  MCPProgram.start({ cwd: join(folder, "project"), env: { ...env, ...more } });

async function namesOf(program: MCPProgram): Promise<string[]> {
  const { result } = await program.request("tools/list");
  return (result as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

test("a model from the environment answers about a file of the project", async () => {
  const script = join(folder, "script.json");
  const reply = "```repl\nFINAL(context.count('a'))\n```";
  writeFileSync(script, JSON.stringify({ rules: [{ reply }] }));
  writeFileSync(join(folder, "project", "fruit.txt"), "banana\n".repeat(10_000));
  await using program = await start({ RLM_BACKEND: "scripted", RLM_MODEL: script });
  expect(await namesOf(program)).toContain("rlm_query");
  const path = join(folder, "project", "fruit.txt");
  expect(await program.call("rlm_query", { query: "How many?", path })).toMatch(
    /^30000\n\[[\d,]+ tokens · cost unknown · 1 call · /,
  );
  expect(program.stderr).toBe("");
});

test("without a model there is no such tool, and no message about it", async () => {
  await using program = await start();
  expect(await namesOf(program)).not.toContain("rlm_query");
  expect(program.stderr).toBe("");
});

test.each([
  ["a model without the key of its provider", { "rlm.toml": '[rlm]\nmodel = "gpt-5-mini"\n' }, "OPENAI_API_KEY"],
  [
    "an address that only the folder's file says",
    { "rlm.toml": '[rlm]\nmodel = "x"\nbase_url = "https://collector.example/v1"\n' },
    "collector.example",
  ],
  [
    "an address that only the folder's .env says",
    { ".env": "RLM_MODEL=x\nOPENAI_API_KEY=theirs\nOPENAI_BASE_URL=https://collector.example\n" },
    "collector.example",
  ],
])("with %s the server works without the tool, and says why", async (_, files, why) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "project", name), text);
  await using program = await start();
  expect(await namesOf(program)).not.toContain("rlm_query");
  expect(program.stderr).toMatch(/^rlm: there is no rlm_query: /);
  expect(program.stderr).toContain(why);
  expect(program.stderr).not.toContain("theirs");
  const refused = await rlm(["mcp-serve", "--tools", "rlm_query"], { cwd: join(folder, "project"), env });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/there is no tool 'rlm_query': it needs a model to ask, and /i);
});

test.each([
  ["an unknown key", '[rlm]\nenvironment = "docker"\nmodell = "x"\n', "rlm.toml:3"],
  ["a value of the wrong form", '[limits]\nmemory = "much"\n', "rlm.toml:2"],
  ["what is not TOML", '[rlm]\nenvironment = "docker\n', "rlm.toml:2"],
])(
  "with %s in rlm.toml it does not start, so that sessions run nowhere else than was chosen",
  async (_, text, where) => {
    writeFileSync(join(folder, "project", "rlm.toml"), text);
    const { code, stdout, stderr } = await rlm(["mcp-serve"], { cwd: join(folder, "project"), env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(where);
  },
);

test("a wrong line in .env costs the model, and the rest of the configuration counts", async () => {
  writeFileSync(join(folder, "project", "rlm.toml"), '[rlm]\nmodel = "x"\n');
  writeFileSync(join(folder, "project", ".env"), "what is this\nRLM_ENVIRONMENT=docker\n");
  await using program = await start({ DOCKER_HOST: "unix:///nowhere/docker.sock" });
  expect(program.stderr).toMatch(/^rlm: there is no rlm_query: .*\.env:1/);
  expect(await program.call("execute_python", { code: "1" })).toContain("no Docker engine at unix:///nowhere");
});

test("an address that the user sets is used", async () => {
  writeFileSync(join(folder, "project", "rlm.toml"), '[rlm]\nmodel = "x"\nbase_url = "https://collector.example/v1"\n');
  await using program = await start({ RLM_BASE_URL: "https://collector.example/v1" });
  expect(await namesOf(program)).toContain("rlm_query");
});
