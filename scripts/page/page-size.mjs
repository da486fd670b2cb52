// How much a browser loads: to the first paint of the largest view, and in all. Sizes are those of gzip, which every browser can read.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const MAX_FIRST_BYTES = 100_000;
/** Without LaTeX, which is a chunk of its own that few readers need. */
const MAX_BYTES = 450_000;

/** Prints the sizes, and throws if one exceeds its limit. `output`: what Vite returns. */
export function checkPageSize(output, folder) {
  const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const sizeOf = (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;
  const sum = (names) => [...names].reduce((bytes, name) => bytes + sizeOf(name), 0);
  const entry = [...chunks.values()].find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error("the page has no entry");

  const views = [...chunks.values()].filter(({ facadeModuleId }) => facadeModuleId?.endsWith("-view.tsx"));
  if (views.length === 0) throw new Error("the page has no views");
  const first = views
    .map((view) => ({ name: view.name, bytes: sum(["index.html", ...loadedBy(chunks, [entry, view])]) }))
    .sort((one, other) => other.bytes - one.bytes);

  const latex = new Set([...chunks.values()].filter(isLaTeX).map(({ fileName }) => fileName));
  const rest = output.map(({ fileName }) => fileName).filter((name) => !latex.has(name) && !name.endsWith(".map"));
  const all = sum(rest);

  const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  const toFirst = first.map(({ name, bytes }) => `${name} ${kB(bytes)}`).join(", ");
  process.stderr.write(`dist/web to the first paint: ${toFirst}; in all ${kB(all)}, LaTeX ${kB(sum(latex))} (gzip)\n`);
  if (first[0].bytes > MAX_FIRST_BYTES) throw new Error(`${first[0].name} needs more than ${kB(MAX_FIRST_BYTES)}`);
  if (all > MAX_BYTES) throw new Error(`the page is larger than ${kB(MAX_BYTES)}`);
}

/** The files of chunks and of all that they import at once, with their styles. */
function loadedBy(chunks, entries) {
  const files = new Set();
  const add = (chunk) => {
    if (files.has(chunk.fileName)) return;
    files.add(chunk.fileName);
    for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style);
    for (const name of chunk.imports) if (chunks.has(name)) add(chunks.get(name));
  };
  for (const entry of entries) add(entry);
  return files;
}

function isLaTeX({ moduleIds }) {
  return moduleIds.some((id) => /\/node_modules\/katex\//.test(id));
}
