#!/usr/bin/env node
// The executable. Imports nothing before it has checked the version of Node, and nothing at all for --version.

declare const __RLM_VERSION__: string;

const OLDEST = [20, 19];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [wantedMajor = 0, wantedMinor = 0] = OLDEST;
const argument = process.argv[2];

if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  process.stderr.write(`rlm: needs Node ${OLDEST.join(".")} or newer, and this is ${process.versions.node}\n`);
  process.exitCode = 70;
} else if (argument === "--version" || argument === "-V") {
  process.stdout.write(`${__RLM_VERSION__}\n`);
} else {
  void import("./main.ts").then(({ main }) => main(process.argv.slice(2)));
}
