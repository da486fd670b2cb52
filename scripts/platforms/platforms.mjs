// The client on every platform that can be had: Node 20 and 24, Deno, Bun and a browser, against `rlm serve` on loopback.
//
//   node scripts/platforms/platforms.mjs TARBALL
//
// A platform that cannot be installed is skipped, and the reason is printed.

import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { installTools } from "../install-tools.mjs";
import { startServer } from "./serve.mjs";

const { arch } = process;
const DENO = `@deno/linux-${arch}-glibc`;
const BUN = `@oven/bun-linux-${arch === "arm64" ? "aarch64" : arch}`;
const NODE = `node-linux-${arch}`;
const SHELLS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const TIME_LIMIT_MS = 60_000;
/** Nothing but the page is loaded. */
const BROWSER_FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(
    " ",
  );

const tarball = resolve(process.argv[2]);
const temp = mkdtempSync(join(tmpdir(), "rlm-platforms-"));
const user = join(temp, "user");
mkdirSync(user);
writeFileSync(join(user, "package.json"), JSON.stringify({ private: true, type: "module" }));
const npm = ["install", "--silent", "--no-audit", "--no-fund", "--offline", tarball];
execFileSync("npm", npm, { cwd: user, stdio: ["ignore", 2, 2] });
cpSync(fileURLToPath(new URL("client.mjs", import.meta.url)), join(user, "client.mjs"));

const page = await servePage();
const server = await startServer(user, ["--allow-origin", page.origin]);
let failures = 0;
try {
  await attempt("Node 20 (this one)", () => run(process.execPath, ["client.mjs", server.url, server.token]));
  await attemptWith("Node 24", { [NODE]: "24.21.0" }, (folder) =>
    run(join(folder, NODE, "bin/node"), ["client.mjs", server.url, server.token]),
  );
  await attemptWith("Deno", { [DENO]: "2.9.6" }, (folder) =>
    run(join(folder, DENO, "deno"), [
      "run",
      "--allow-net=127.0.0.1",
      "--node-modules-dir=manual",
      "--no-lock",
      "client.mjs",
      server.url,
      server.token,
    ]),
  );
  await attemptWith("Bun", { [BUN]: "1.4.4" }, (folder) =>
    run(join(folder, BUN, "bin/bun"), ["client.mjs", server.url, server.token]),
  );
  const browser = findBrowser();
  if (browser === undefined)
    process.stderr.write(`ci: SKIPPED the client in a browser: none of ${SHELLS.join(", ")} is installed\n`);
  else await attempt("a browser", () => runInBrowser(browser));
} finally {
  await server.close();
  page.close();
  rmSync(temp, { recursive: true, force: true });
}
process.exitCode = failures > 0 ? 1 : 0;

async function attempt(name, work) {
  const printed = await work().catch((error) => String(error.stderr || error.stdout || error));
  const isOk = printed.trim() === "ok";
  if (!isOk) failures += 1;
  process.stderr.write(`client in ${name}: ${printed.trim()}\n`);
}

async function attemptWith(name, packages, work) {
  const tools = join(temp, name.replaceAll(" ", "-"));
  if (!installTools(tools, packages, `the client in ${name}`)) return;
  await attempt(name, () => work(join(tools, "node_modules")));
}

async function run(program, args) {
  const home = { HOME: temp, DENO_DIR: join(temp, "deno") };
  const env = { PATH: process.env.PATH, ...home, NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(program, args, { cwd: user, env, timeout: TIME_LIMIT_MS });
  return stdout;
}

function findBrowser() {
  const folders = (process.env.PATH ?? "").split(":");
  return SHELLS.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** The page runs the same program, and sends what it printed. */
async function runInBrowser(browser) {
  const source = `globalThis.Deno = { args: ${JSON.stringify([server.url, server.token])} };`;
  page.scripts.set("/start.js", source);
  const bundle = await rolldown({ input: join(user, "client.mjs"), platform: "browser", cwd: user });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  page.scripts.set("/client.js", output[0].code);
  const args = [...BROWSER_FLAGS, `--user-data-dir=${join(temp, "browser")}`, `${page.origin}/`];
  // A group of its own: what is started may be a script that starts the browser.
  const program = spawn(browser, args, {
    env: { PATH: process.env.PATH, HOME: temp },
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolveEnd) => {
    program.once("exit", resolveEnd).once("error", resolveEnd);
  });
  const tooLate = delay(TIME_LIMIT_MS, "it printed nothing in time", { ref: false });
  try {
    return await Promise.race([page.printed, tooLate, ended.then(() => "the browser ended")]);
  } finally {
    if (program.exitCode === null && program.pid !== undefined) process.kill(-program.pid, "SIGKILL");
    await ended;
  }
}

async function servePage() {
  const scripts = new Map();
  const html = `<!doctype html><script>
const show = (text) => void fetch("/printed", { method: "POST", body: text });
console.log = show;
addEventListener("error", (event) => show("error: " + event.message));
addEventListener("unhandledrejection", (event) => show("error: " + event.reason));
</script><script src="/start.js"></script><script type="module" src="/client.js"></script>`;
  let print = () => {};
  const printed = new Promise((received) => {
    print = received;
  });
  const http = createServer((request, response) => {
    if (request.url === "/printed") void text(request).then(print);
    const script = scripts.get(request.url);
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
    response.end(script ?? html);
  });
  await new Promise((listening) => {
    http.listen(0, "127.0.0.1", listening);
  });
  const close = () => {
    http.close();
    http.closeAllConnections();
  };
  return { origin: `http://127.0.0.1:${http.address().port}`, scripts, printed, close };
}
