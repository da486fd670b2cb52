// The API report, docs/api-report.md: every public name and its signature, by entry, so that a change of the API is seen in review.
//
//   npm run api                 writes it
//   npm run api -- --check      fails if it is not up to date, and shows what changed

import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENTRIES } from "../entries.mjs";
import { withoutComments } from "./check.mjs";
import { findDeclaration, referencesOf } from "./graph.mjs";
import { writeDeclarations } from "./write.mjs";

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
const REPORT = "docs/api-report.md";
const INTRO = `# API report

Every public name with its signature, by entry of the package. Made by \`npm run api\`, and compared by \`npm run check\`: a change here is
a change of the public API. [docs/sdk.md](sdk.md) explains it.
`;

mkdirSync("node_modules/.cache", { recursive: true });
const folder = mkdtempSync("node_modules/.cache/rlm-api-");
try {
  const report = toReport(await writeDeclarations(folder));
  if (!process.argv.includes("--check")) writeFileSync(REPORT, report);
  else if (!isCurrent(report)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function toReport({ graph, root }) {
  const seen = new Map();
  const sections = ENTRIES.map(({ name, types }) => {
    const file = join(root, types);
    const exported = [...graph.get(file).exports.keys()].sort();
    const own = [];
    const shared = new Map();
    for (const publicName of exported) {
      const { file: from, name: declared } = findDeclaration(graph, file, publicName);
      const key = `${from} ${declared}`;
      const first = seen.get(key);
      if (first === undefined) own.push(publicName);
      else shared.set(first, [...(shared.get(first) ?? []), publicName]);
      seen.set(key, first ?? name);
    }
    const texts = own.flatMap((publicName) => textsOf(graph, findDeclaration(graph, file, publicName)));
    const others = [...shared].map(([first, names]) => `As in \`${first}\`: ${names.join(", ")}.\n`);
    return [`## ${name}\n`, ...others, `\`\`\`ts\n${texts.join("\n")}\n\`\`\`\n`].join("\n");
  });
  const helpers = helpersOf(graph, seen);
  const unnamed = helpers.map(({ file, name }) => textsOf(graph, { file, name })).flat();
  const rest = `## Used above, without a public name\n\n\`\`\`ts\n${unnamed.join("\n")}\n\`\`\`\n`;
  return [INTRO, ...sections, ...(unnamed.length > 0 ? [rest] : [])].join("\n");
}

/** The declarations of a name, without comments. */
function textsOf(graph, { file, name }) {
  const parsed = graph.get(file);
  return parsed.declarations.get(name).map(({ start, end }) =>
    withoutComments(parsed, start, end)
      .replace(/^export (?:declare )?/, "")
      .replaceAll(/^\s*\n/gm, "")
      .replaceAll(/^ +/gm, (indent) => " ".repeat(indent.length / 2))
      .trim(),
  );
}

/** Declarations that public ones refer to, and that no entry exports. Sorted by name. */
function helpersOf(graph, seen) {
  const found = new Map();
  for (const [file, { declarations }] of graph) {
    for (const [name, [{ node }]] of declarations) {
      if (seen.has(`${file} ${name}`)) for (const other of referencesOf(node)) add(file, other);
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));

  function add(from, name) {
    const target = findDeclaration(graph, from, name);
    const key = target && `${target.file} ${target.name}`;
    if (target === null || seen.has(key) || found.has(key)) return;
    found.set(key, target);
    for (const { node } of graph.get(target.file).declarations.get(target.name)) {
      for (const other of referencesOf(node)) add(target.file, other);
    }
  }
}

function isCurrent(report) {
  if (readFileSync(REPORT, "utf8") === report) return true;
  const current = join(folder, "current.md");
  writeFileSync(current, report);
  try {
    execFileSync("git", ["--no-pager", "diff", "--no-index", "--", REPORT, current], { stdio: ["ignore", 2, 2] });
  } catch {
    // It exits with 1 where there are differences.
  }
  process.stderr.write(`The public API has changed. If that is intended: npm run api, and commit ${REPORT}\n`);
  return false;
}
