// Builds the page into dist/web, compressed, and checks that it stays small.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { checkPageSize } from "./page-size.mjs";

const FOLDER = "dist/web";
const COMPRESSED = new Set([".html", ".js", ".css", ".svg"]);
/** Below this, the headers of a response cost more than compression saves. */
const MIN_BYTES = 512;

/** Returns the chunks that were written. `release`: compresses as well as possible, prints the sizes, and throws if they exceed a limit. */
export async function buildPage({ release }) {
  const { output } = await build({ configFile: "web/vite.config.ts", logLevel: "warn" });
  for (const name of ["", "assets"]) compressFolder(join(FOLDER, name), release ? 11 : 4);
  const chunks = output.filter(({ type }) => type === "chunk");
  if (release) checkPageSize(output, FOLDER);
  return chunks;
}

function compressFolder(folder, quality) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!COMPRESSED.has(extname(name))) continue;
    const bytes = readFileSync(path);
    if (bytes.length < MIN_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: Math.min(9, quality) }));
  }
}
