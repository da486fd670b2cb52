// Runs `npm start`, the first of the README's two commands, until the server is healthy, then stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const LIMIT_MS = 10 * 60_000;

const server = spawn("npm", ["start", "--silent", "--", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
  detached: true,
});
const exit = once(server, "exit");
const timer = setTimeout(() => end("SIGKILL"), LIMIT_MS);
try {
  const url = await listeningUrl();
  const health = await (await fetch(`${url}/v1/health`)).json();
  process.stderr.write(`npm start: ${JSON.stringify(health)}\n`);
  if (health.status !== "ok") throw new Error("the server is not healthy");
} catch (error) {
  process.stderr.write(`npm start failed: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  if (server.exitCode === null) end("SIGTERM");
  await exit;
  clearTimeout(timer);
}

/** Stops npm and the server, which share a process group. */
function end(signal) {
  if (server.pid !== undefined) process.kill(-server.pid, signal);
}

async function listeningUrl() {
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /^listening (\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("it ended before it listened");
}
