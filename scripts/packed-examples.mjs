// The examples of the packed package, as a user runs them: copied out of node_modules, with this Node and with a newer one.
//
//   node scripts/packed-examples.mjs TARBALL NODE      NODE: a version that runs TypeScript; exit code 75: tools cannot be installed here
//
// Each must print what the documents in the package say. Those in examples/http/ need a server; the tests run them.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { installTools } from "./install-tools.mjs";

const [tarball, newer] = process.argv.slice(2);
const { devDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
/** What the examples import, and what runs TypeScript on Node 20. */
const TOOLS = { tsx: "4.23.15", zod: devDependencies.zod, ws: devDependencies.ws };

const temp = mkdtempSync(join(tmpdir(), "rlm-examples-"));
try {
  process.exitCode = main();
} finally {
  rmSync(temp, { recursive: true, force: true });
}

function main() {
  if (!installTools(temp, TOOLS, "what the examples need")) return 75;
  const npm = ["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--offline", resolve(tarball)];
  execFileSync("npm", npm, { cwd: temp, stdio: ["ignore", 2, 2] });
  execFileSync("npm", ["pkg", "set", "type=module"], { cwd: temp, stdio: ["ignore", 2, 2] });
  cpSync(join(temp, "node_modules/rlm-runtime/examples"), join(temp, "examples"), { recursive: true });
  const said = readOutputs(join(temp, "node_modules/rlm-runtime/docs"));
  const runners = [
    { name: `Node ${process.version} with tsx ${TOOLS.tsx}`, command: [process.execPath, "--import", "tsx"] },
    ...findNewer(),
  ];
  const results = runners.map((runner) => runAll(runner, said));
  return results.every(Boolean) ? 0 : 1;
}

/** Node itself, from npm. Empty: it cannot be installed here. */
function findNewer() {
  const args = ["exec", "--yes", "--silent", `--package=node-linux-${process.arch}@${newer}`, "--", "node"];
  const { stdout, status } = spawnSync("npm", [...args, "-p", "process.execPath"], { cwd: temp, encoding: "utf8" });
  if (status === 0) return [{ name: `Node v${newer}`, command: [stdout.trim()] }];
  process.stderr.write(
    `examples: SKIPPED on Node ${newer}: it cannot be installed from this registry on this machine\n`,
  );
  return [];
}

/** What the documents say that an example prints, by its path. */
function readOutputs(folder) {
  const found = new Map();
  for (const name of readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".md"))) {
    const blocks = readFileSync(join(folder, name), "utf8").matchAll(/<!-- output: (\S+) -->\n+```\w*\n([^]*?)```/g);
    for (const [, file, text] of blocks) found.set(file, text);
  }
  return found;
}

function runAll({ name, command: [command, ...args] }, said) {
  const files = readdirSync(join(temp, "examples")).filter((file) => /\.(?:ts|mjs)$/.test(file));
  const failed = files.filter((file) => {
    const path = `examples/${file}`;
    const env = { ...process.env, RLM_DATA: join(temp, "data"), RLM_MODEL: "", RLM_BACKEND: "", RLM_BASE_URL: "" };
    const { stdout, stderr, status } = spawnSync(command, [...args, path], { cwd: temp, env, encoding: "utf8" });
    if (status === 0 && stdout === (said.get(path) ?? stdout)) return false;
    process.stderr.write(`${name}: ${path} exited with ${status}\n${stdout}${stderr}\n`);
    return true;
  });
  process.stderr.write(
    `${name}: ${files.length - failed.length} of ${files.length} examples print what is documented\n`,
  );
  return failed.length === 0;
}
