import { once } from "node:events";
import { expect, test } from "vitest";
import { createServer, type AddressInfo } from "node:net";
import { Folder } from "../config/folder.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { rlm } from "./program.ts";
import { TIER } from "../tier.ts";

interface Report {
  readonly usable: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly status: string;
    readonly fix?: string;
    readonly capabilities?: object;
  }[];
}

test("doctor checks the sandbox and finds this machine usable", async () => {
  const { code, stdout, stderr } = await rlm(["doctor"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^ok {4}sandbox {6}tier ${TIER}, first session in \\d+ ms`, "m"));
  expect(stdout).toMatch(/\nSessions can be used here\.\n$/);
});

test("doctor --json prints one object and nothing else", async () => {
  const { code, stdout, stderr } = await rlm(["doctor", "--json"]);
  const { usable, findings } = JSON.parse(stdout) as Report;
  expect({ code, stderr, usable }).toEqual({ code: 0, stderr: "", usable: true });
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      "node",
      "python",
      "sandbox",
      "environment",
      "landlock",
      "cgroup",
      "memory",
      "data folder",
      "disk",
      "port",
      "docker",
      "config",
      "model",
      "limits",
      "server",
    ]),
  );
  expect(findings.filter(({ status, fix }) => (status === "ok") !== (fix === undefined))).toEqual([]);
  expect(findings.find(({ check }) => check === "environment")?.capabilities).toEqual(LOCAL_CAPABILITIES);
});

test("doctor shows the model, the keys that are set, and who uses the port", async () => {
  const other = createServer((socket) => socket.end("220 no server of ours\r\n")).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  using folder = new Folder({
    "rlm.toml": `[rlm]\nmodel = "claude-x\\u001b]0;evil\\u0007"\nsub_model = "proxy/small"
child_model = "claude-y"
[backends.proxy]\ntype = "openai-compatible"\nbase_url = "https://llm.example.com/v1"\napi_key_env = "PROXY_KEY"
[backends.other]\ntype = "openai-compatible"\nbase_url = "https://llm.example.com/v1"\napi_key_env = "OTHER_KEY"
[backends.here]\ntype = "openai-compatible"\nbase_url = "http://127.0.0.1:${port}/v1"
[server]\nport = ${port}\nruns = 3\n`,
    ".env": "PROXY_KEY=planted-in-dot-env\n",
  });
  const env = {
    HOME: folder.path,
    RLM_DATA: folder.at("data"),
    ANTHROPIC_API_KEY: "planted-key",
    ANTHROPIC_BASE_URL: "",
  };
  const { code, stdout } = await rlm(["doctor"], { cwd: folder.path, env });
  other.close();
  expect(code).toBe(0);
  expect(stdout).not.toContain("planted");
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toMatch(
    /^ok {4}model {8}claude-x.*, and proxy\/small for llm_query \(of proxy\), and claude-y for nodes below, asked of anthropic$/m,
  );
  expect(stdout).toMatch(/^ok {4}backend {6}anthropic at api\.anthropic\.com, its key is in ANTHROPIC_API_KEY$/m);
  expect(stdout).toMatch(/^ok {4}backend {6}proxy at llm\.example\.com, its key is in PROXY_KEY of \.env$/m);
  expect(stdout).toMatch(
    /^warn {2}backend .*'other' .* OTHER_KEY, which is not set\n {19}fix: Set it in the environment or in \.env$/m,
  );
  expect(stdout).toMatch(/^warn {2}backend {6}here at 127\.0\.0\.1:\d+ does not answer\n {19}fix: Start its server/m);
  expect(stdout).toMatch(
    new RegExp(`^warn {2}port {9}${port} is taken by another program\n {19}fix: Use another`, "m"),
  );
  expect(stdout).toMatch(/^ok {4}data folder {2}.* free in .*data$/m);
  expect(stdout).toMatch(/^ok {4}server .* 3 runs at once$/m);
});

test("doctor says what is broken and how to fix it, and exits with 1", async () => {
  const { code, stdout } = await rlm(["doctor"], { env: { RLM_PYTHON: "/nowhere/python" } });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail {2}python .*\n +fix: Install Python 3\.9/m);
  expect(stdout).toMatch(/\nSessions cannot be used here yet\.\n$/);
});
