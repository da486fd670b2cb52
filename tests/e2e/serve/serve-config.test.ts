// `rlm serve` with an rlm.toml.

import { expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { rlm, start } from "../program.ts";

const TOKEN = "e2e-token";
const env = { RLM_TOKEN: TOKEN };

test("a project's file sets limits; named sites may send requests; requests that are too fast wait", async () => {
  using folder = new Folder({
    "rlm.toml": `
[server]
port = 0
rate = 0.01
log_level = "error"
[limits]
sessions = 1
`,
  });
  await using program = start(["serve", "--allow-origin", "https://app.example"], { env, cwd: folder.path });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
  const origin = "https://app.example";
  const preflight = await fetch(`${url}/v1/version`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "GET" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  const ask = () => fetch(`${url}/v1/version`, { headers: { authorization: `Bearer ${TOKEN}`, origin } });
  const first = await ask();
  expect([first.status, first.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  const second = await ask();
  expect(second.status).toBe(429);
  expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(60);
  expect(await second.json()).toMatchObject({ code: "RATE_LIMITED", requestId: second.headers.get("x-request-id") });
  expect((await fetch(`${url}/v1/health`)).status).toBe(200);
});

test("a project's file cannot open the server to others; --config can", async () => {
  using folder = new Folder({ "rlm.toml": `[server]\nport = 0\nhost = "127.0.0.2"\n` });
  await using untrusted = start(["serve"], { env, cwd: folder.path });
  await untrusted.until(/^listening http:\/\/127\.0\.0\.1:\d+\n/);
  expect(untrusted.text("stderr")).toMatch(
    /^rlm: ignored server\.host of .*rlm\.toml: the file is not trusted\. 'rlm config trust' shows it and trusts the file\n/,
  );
  await using program = start(["serve", "--config", "rlm.toml"], { env, cwd: folder.path });
  const [, port = ""] = await program.until(/^listening http:\/\/127\.0\.0\.2:(\d+)\n[\s\S]*token .*\n/);
  expect((await fetch(`http://127.0.0.2:${port}/v1/health`)).status).toBe(200);
});

test("an unknown key is reported with its line", async () => {
  using folder = new Folder({ "rlm.toml": "[server]\nprot = 1\n" });
  const { code, stderr } = await rlm(["serve"], { env, cwd: folder.path });
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/rlm\.toml:2: there is no 'server\.prot'; did you mean port\?\n$/),
  ]);
});

test("/mcp offers the chosen tools, and its sessions have the mounts", async () => {
  using folder = new Folder({
    "project/rlm.toml": "[server]\nport = 0\nstructured = true\n",
    "shown/note.txt": "seen",
  });
  const cwd = folder.at("project");
  await using program = start(["serve", "--tools", "core", "--mount", "../shown"], { env, cwd });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
  const ask = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const message =
      /^(?:event: message\n)?(?:data: )?(?<json>\{.*)/m.exec(await response.text())?.groups?.["json"] ?? "";
    return (JSON.parse(message) as { result: Record<string, unknown> }).result;
  };
  const { tools } = await ask("tools/list");
  expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(["execute_python", "shell", "shell_status"]);
  const code = `open(${JSON.stringify(folder.at("shown/note.txt"))}).read()`;
  expect(await ask("tools/call", { name: "execute_python", arguments: { code } })).toMatchObject({
    content: [{ type: "text", text: "→ 'seen'" }],
    structuredContent: expect.any(Object),
  });
  const { code: exit, stderr } = await rlm(["serve", "--tools", "pyhton"], { env, cwd });
  expect([exit, stderr]).toEqual([
    2,
    expect.stringMatching(/^rlm: --tools: There is no tool 'pyhton': choose core, all, /),
  ]);
});
