// Runs `npm start`, the first of the README's two commands, until the server is healthy and has said what to try, then stops it.
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
  const { url, hints } = await readGreeting();
  for (const hint of ["curl -s ", "node dist/cli.cjs sessions open", `open ${url}`])
    if (!hints.some((line) => line.startsWith(hint))) throw new Error(`it does not say what to try: ${hint}`);
  const page = await fetch(url);
  if (page.status !== 200 || !page.headers.get("content-type").startsWith("text/html"))
    throw new Error("there is no page at its address");
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

/** The line with its address, and the three lines that follow. */
async function readGreeting() {
  let url;
  const hints = [];
  for await (const line of createInterface({ input: server.stdout })) {
    if (url !== undefined) hints.push(line);
    url ??= /^listening (\S+)/.exec(line)?.[1];
    if (hints.length === 3) return { url, hints };
  }
  throw new Error("it ended before it listened");
}
