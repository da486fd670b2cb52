// Which provider is asked, and which key goes to which address.

import { existsSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { backendVariables } from "../../src/config/choose-backend.ts";
import { Folder } from "./folder.ts";
import { chooseOf, load, loadText, type Inputs } from "./load.ts";

test("a custom backend has a type, an address and a key variable", () => {
  const toml =
    "[rlm]\nbackend = 'proxy'\n[backends.proxy]\ntype = 'openai-compatible'\nbase_url = 'http://localhost:1'\napi_key_env = 'K'";
  expect(chooseOf(loadText(toml, { env: { K: "s" } }))).toEqual({
    type: "openai-compatible",
    baseUrl: "http://localhost:1",
    apiKey: "s",
  });
  expect(() => chooseOf(loadText(toml))).toThrow(/takes its key from K, which is not set/);
  const flags = { base_url: "http://localhost:2", backend: "openai" };
  expect(chooseOf(loadText(toml, { flags }))).toEqual({ type: "openai", baseUrl: "http://localhost:2" });
  expect(chooseOf(loadText(""))).toEqual({ type: "openai" });
  expect(chooseOf(loadText("[rlm]\nmodel = 'claude-x'"))).toEqual({ type: "anthropic" });
  expect(chooseOf(loadText("[rlm]\nmodel = 'gemini-x'"))).toEqual({ type: "gemini" });
  expect(chooseOf(loadText("", { flags: { base_url: "http://localhost:1" } })).type).toBe("openai-compatible");
});

test("a project cannot send the user's key to its own address", () => {
  const env = { OPENAI_API_KEY: "real" };
  const elsewhere = "[rlm]\nbase_url = 'https://elsewhere.example/v1'\nbackend = 'openai'\n";
  const choose = (toml: string, inputs: Inputs = { env }): unknown => chooseOf(loadText(toml, inputs));
  expect(() => choose(elsewhere)).toThrow(/it would send the key in OPENAI_API_KEY to elsewhere\.example/);
  expect(() => choose(elsewhere)).not.toThrow(/real/);
  expect(() => choose(elsewhere.replace("//", "//me:password@"))).not.toThrow(/password/);
  const named = `${elsewhere.replace("'openai'", "'a'")}\n[backends.a]\ntype = 'openai-compatible'\napi_key_env = 'OPENAI_API_KEY'`;
  expect(() => choose(named)).toThrow(/it would send the key in OPENAI_API_KEY/);
  const url = "https://elsewhere.example/v1";
  expect(choose(elsewhere, { env, flags: { base_url: url } })).toMatchObject({ baseUrl: url });
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
  expect(() => chooseOf(load(folder, { env }))).toThrow(/it would send/);
  folder.write("project/.env", `RLM_BACKEND=openai\nRLM_BASE_URL=${url}\nOPENAI_API_KEY=its-own`);
  expect(chooseOf(load(folder))).toMatchObject({ baseUrl: url });
  folder.write("project/.env", "");
  folder.write(".config/rlm/config.toml", `[rlm]\nbackend = 'openai'\nbase_url = '${url}'`);
  expect(chooseOf(load(folder, { env }))).toMatchObject({ baseUrl: url });
});

test("a key beside the user's own file is not sent to the address of a project", () => {
  const url = "https://elsewhere.example/v1";
  using folder = new Folder({
    ".config/rlm/.env": "OPENAI_API_KEY=real\nANTHROPIC_BASE_URL=https://mine.example",
    "project/rlm.toml": `[rlm]\nbackend = 'openai'\nbase_url = '${url}'`,
    "project/.env": `OPENAI_BASE_URL=${url}`,
  });
  expect(() => chooseOf(load(folder))).toThrow(/it would send the key in OPENAI_API_KEY to elsewhere\.example/);
  expect(backendVariables(load(folder))).toEqual({
    OPENAI_API_KEY: "real",
    ANTHROPIC_BASE_URL: "https://mine.example",
  });
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

test("a project cannot link to a key of the user and send it to an address of its own", () => {
  const toml = '[rlm]\nmodel = "m"\nbackend = "openai"\nbase_url = "https://elsewhere.example/v1"\n';
  using folder = new Folder({ "project/rlm.toml": toml, ".config/rlm/.env": "OPENAI_API_KEY=sk-own\n" });
  symlinkSync("../.config/rlm/.env", folder.at("project/.env"));
  expect(() => chooseOf(load(folder))).toThrow(/it would send the key in OPENAI_API_KEY to elsewhere\.example/);
});

test("a link to a file that names the address and the key, or to another file of the project, is allowed", () => {
  const address = "https://elsewhere.example/v1";
  const key = "OPENAI_API_KEY=sk-shared\n";
  using folder = new Folder({
    "one/rlm.toml": '[rlm]\nmodel = "m"\nbackend = "openai"\n',
    "shared.env": `RLM_BASE_URL=${address}\n${key}`,
    "two/rlm.toml": `[rlm]\nmodel = "m"\nbackend = "openai"\nbase_url = "${address}"\n`,
    "two/local.env": key,
  });
  symlinkSync("../shared.env", folder.at("one/.env"));
  symlinkSync("local.env", folder.at("two/.env"));
  expect(["one", "two"].map((cwd) => chooseOf(load(folder, { cwd })).baseUrl)).toEqual([address, address]);
});

test.runIf(existsSync("/dev/zero"))("an .env without an end is refused", () => {
  using folder = new Folder({ "project/rlm.toml": "" });
  symlinkSync("/dev/zero", folder.at("project/.env"));
  expect(() => load(folder)).toThrow(/\.env: it is too long/);
});

test("the variables of all providers are known", () => {
  const values = {
    AZURE_OPENAI_ENDPOINT: "https://mine.openai.azure.com",
    OPENAI_API_VERSION: "2024-10-21",
    OPENROUTER_BASE_URL: "https://elsewhere.example",
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  using folder = new Folder({ "project/.env": lines.join("\n") });
  expect(backendVariables(load(folder))).toEqual({ OPENAI_API_VERSION: "2024-10-21" });
  folder.write("project/.env", [...lines, "AZURE_OPENAI_API_KEY=1"].join("\n"));
  const { OPENROUTER_BASE_URL: _withoutKey, ...allowed } = values;
  expect(backendVariables(load(folder))).toEqual({ ...allowed, AZURE_OPENAI_API_KEY: "1" });
  const url = "https://elsewhere.example/v1";
  const toml = `[rlm]\nbackend = 'openrouter'\nbase_url = '${url}'`;
  const env = { OPENROUTER_API_KEY: "real" };
  expect(() => chooseOf(loadText(toml, { env }))).toThrow(/it would send the key in OPENROUTER_API_KEY/);
});
