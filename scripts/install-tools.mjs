// Installs pinned tools into a folder of their own, for checks that the lock file should not pay for.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `packages`: versions by name. Install scripts do not run. Where they cannot be installed it prints SKIPPED with the reason, and returns
 * false.
 */
export function installTools(folder, packages, what) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
  const npm = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", npm, { cwd: folder, encoding: "utf8" });
  if (status === 0) return true;
  const why = stderr.split("\n").find((line) => line.includes("npm error")) ?? "npm install failed";
  process.stderr.write(`ci: SKIPPED ${what}: ${Object.keys(packages).join(", ")} cannot be installed: ${why}\n`);
  return false;
}
