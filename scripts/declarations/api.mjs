// What is written about the public API from its types: the report for reviewers, and the reference for users.
//
//   npm run api                 writes docs/api-report.md and docs/reference/
//   npm run api -- --check      fails if they are not up to date, and shows what changed

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { toReference } from "./reference/pages.mjs";
import { toReport } from "./report.mjs";
import { writeDeclarations } from "./write.mjs";

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
const REPORT = "docs/api-report.md";
const REFERENCE = "docs/reference";

mkdirSync("node_modules/.cache", { recursive: true });
const folder = mkdtempSync("node_modules/.cache/rlm-api-");
try {
  const declarations = await writeDeclarations(join(folder, "types"));
  const files = new Map([[REPORT, toReport(declarations)]]);
  for (const [name, text] of toReference(declarations)) files.set(join(REFERENCE, name), text);
  if (process.argv.includes("--check")) check(files);
  else write(files);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function write(files) {
  rmSync(REFERENCE, { recursive: true, force: true });
  for (const [file, text] of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function check(files) {
  const left = existsSync(REFERENCE) ? readdirSync(REFERENCE).map((name) => join(REFERENCE, name)) : [];
  const wrong = left.filter((file) => !files.has(file)).map((file) => `${file} is of no use any more`);
  for (const [file, text] of files) {
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    wrong.push(`${file} is not up to date`);
    show(file, text);
  }
  if (wrong.length === 0) return;
  process.stderr.write(
    `${wrong.join("\n")}\nThe public API has changed. If that is intended: npm run api, and commit docs/\n`,
  );
  process.exitCode = 1;
}

function show(file, text) {
  const current = join(folder, "current.md");
  writeFileSync(current, text);
  try {
    const old = existsSync(file) ? file : "/dev/null";
    execFileSync("git", ["--no-pager", "diff", "--no-index", "--", old, current], { stdio: ["ignore", 2, 2] });
  } catch {
    // It exits with 1 where there are differences.
  }
}
