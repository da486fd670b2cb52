// Starts a server like a client, lists its tools, and stops it.

import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";
import { z } from "zod";
import { withTimeout } from "../../util/async/with-timeout.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { VERSION } from "../../util/version.ts";
import type { ServerCommand } from "./clients.ts";
import { Refusal } from "./refusal.ts";

const ANSWER_MS = 20_000;
const END_MS = 5000;
const MAX_STDERR = 4000;

const REPLY = z.object({
  id: z.int(),
  result: z.object({ tools: z.array(z.object({ name: z.string() })).optional() }).optional(),
});

/** The variables that clients pass to a server. */
const INHERITED = [
  "HOME LOGNAME PATH SHELL TERM USER",
  "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE",
].flatMap((names) => names.split(" "));

interface LaunchOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Resolves with the names of the tools. Throws a `Refusal` with the server's last error if it does not answer. */
export async function tryCommand(
  { command, args }: ServerCommand,
  { cwd, env }: LaunchOptions,
): Promise<readonly string[]> {
  const inherited = Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: "pipe" });
  const lastError = collectStderr(child.stderr);
  child.stdin.on("error", () => {}); // it ended early; its exit code is reported
  const ended = new Promise<string>((resolve) => {
    child.on("error", ({ message }) => resolve(message)).on("close", (code) => resolve(`it ended with ${code}`));
  });
  const outcome = Promise.race([listTools(child.stdin, child.stdout), ended]);
  const answer = (await withTimeout(ANSWER_MS, outcome)) ?? `no answer within ${ANSWER_MS / 1000} s`;
  child.stdin.end();
  const killer = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(killer);
  if (typeof answer !== "string") return answer;
  throw new Refusal([`the server does not start: ${answer}`, ...lastError()].join(": "));
}

/** Never settles if the server does not answer. */
async function listTools(input: Writable, output: Readable): Promise<readonly string[]> {
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return new Promise((resolve) => {
    createInterface({ input: output }).on("line", (line) => {
      const reply = REPLY.safeParse(parseJSON(line));
      if (!reply.success) return;
      if (reply.data.id === 2) resolve((reply.data.result?.tools ?? []).map(({ name }) => name));
      if (reply.data.id !== 1) return;
      send({ method: "notifications/initialized" });
      send({ id: 2, method: "tools/list" });
    });
    const clientInfo = { name: "rlm mcp install", version: VERSION };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  });
}

/** Returns the last line of stderr, if any. */
function collectStderr(stream: Readable): () => readonly string[] {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-MAX_STDERR);
  });
  return () => text.trim().split("\n").slice(-1).filter(Boolean);
}
