// Installs third-party MCP clients and starts our server for them.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const NODE = "24.21.0";
/** They need a newer Node, which is installed with them. Pinned, because npm would choose an old Inspector on an old Node. */
const PACKAGES = [
  `node-linux-${process.arch}@${NODE}`,
  "@modelcontextprotocol/inspector@2.12.0",
  "@modelcontextprotocol/conformance@0.2.0-alpha.12",
];
/** The exit code for "not available here", as opposed to a failed check. */
const UNAVAILABLE = 75;

const INSTALL_MS = 180_000;
const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));
const TOKEN = "a-token-for-clients-we-did-not-write";

/** The folder of their commands; undefined if they cannot be installed. */
function installForeign() {
  const how = ["--prefer-offline", "--fetch-retries=0", "--fetch-timeout=60000"];
  const packages = PACKAGES.map((name) => `--package=${name}`);
  const question = ["node", "-p", "process.version + ' ' + process.env.PATH"];
  const { status, stdout } = spawnSync("npm", ["exec", "--yes", "--silent", ...how, ...packages, "--", ...question], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: INSTALL_MS,
  });
  const [version, path = ""] = status === 0 ? stdout.trim().split(" ", 2) : [];
  return version === `v${NODE}` ? path.split(delimiter)[0] : undefined;
}

/** Exits if they are not available, which is not a failure. */
export function requireForeign() {
  const folder = installForeign();
  if (folder !== undefined) return folder;
  process.stdout.write(`SKIPPED: ${PACKAGES.join(", ")} cannot be had here: npm has to reach a registry\n`);
  process.exit(UNAVAILABLE);
}

/** Working directory and environment variables of all processes: keeps them away from the user's folders. */
export function openTemporaryHome(commands) {
  const home = mkdtempSync(join(tmpdir(), "rlm-foreign-"));
  const env = {
    ...process.env,
    HOME: home,
    RLM_DATA: join(home, "data"),
    RLM_TOKEN: TOKEN,
    RLM_PYTHON: process.env.RLM_PYTHON ?? "/usr/bin/python3",
    PATH: `${commands}${delimiter}${process.env.PATH}`,
    NO_COLOR: "1",
  };
  return { cwd: home, env, close: () => remove(home) };
}

/** A server that was just stopped may still be writing; `maxRetries` would not notice new files. */
function remove(folder, timeoutMs = 20_000) {
  for (const until = Date.now() + timeoutMs; ;) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || Date.now() > until) throw error;
    }
  }
}

/** The program as a client starts it on stdio, with the Node of this process. */
export const STDIO = [process.execPath, CLI, "mcp-serve"];

/** The program on HTTP. */
export async function startHTTP({ cwd, env }) {
  const child = spawn(process.execPath, [CLI, "mcp-serve", "--http", "--port", "0"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^listening (http:\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      authorization: `Bearer ${TOKEN}`,
      close: async () => {
        child.kill("SIGTERM");
        return ended;
      },
    };
  }
  throw new Error(`rlm mcp-serve --http ended with ${await ended} before it listened`);
}

/** Runs a command until it exits. */
export function run(command, args, { cwd, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const printed = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"]) {
      child[stream].setEncoding("utf8").on("data", (text) => void (printed[stream] += text));
    }
    child.on("error", reject).on("close", (code) => resolve({ code, ...printed }));
  });
}
