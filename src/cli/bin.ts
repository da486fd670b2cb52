#!/usr/bin/env node
// The executable. Imports nothing before it has checked the version of Node, and nothing at all for --version.

declare const __RLM_VERSION__: string;

const OLDEST = [20, 19];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [wantedMajor = 0, wantedMinor = 0] = OLDEST;
const [argument, ...others] = process.argv.slice(2);
const asksForVersion = argument === "--version" || argument === "-V" || (argument === "version" && others.length === 0);

if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  process.stderr.write(`rlm: needs Node ${OLDEST.join(".")} or newer, and this is ${process.versions.node}\n`);
  process.exitCode = 70;
} else if (asksForVersion) {
  process.stdout.write(`${__RLM_VERSION__}\n`);
} else {
  start().catch(explain);
}

async function start(): Promise<void> {
  const { useCodeCache } = await import("./code-cache.ts");
  useCodeCache(__dirname);
  const { main } = await import("./main.ts");
  await main(process.argv.slice(2));
}

/** Our own files could not be loaded. */
function explain(error: NodeJS.ErrnoException): void {
  if (error.code !== "EMFILE" && error.code !== "ENFILE") throw error;
  process.stderr.write("rlm: cannot start: too many files are open. Raise the limit: ulimit -n 1024\n");
  process.exitCode = 70;
}
