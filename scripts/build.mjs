// Builds dist/: the program and the SDK as one set of split chunks, and a copy of the Python worker.
//
//   node scripts/build.mjs [--release]         release: minified, with type declarations
//
// Libraries are bundled, so a user installs one package; their licences go to THIRD_PARTY_LICENSES.txt. Chunks are all
// directly in dist/: whichever of them asks, `new URL("./python/", import.meta.url)` is the worker's folder.
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { writeDeclarations } from "./declarations.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const release = process.argv.includes("--release");
const started = performance.now();

// setup.mjs remembers its last build; a manual build makes it check again.
rmSync("node_modules/.cache/rlm/build", { force: true });
rmSync("dist", { recursive: true, force: true });

const modules = await bundle();
copyWorker();
const packages = bundledPackages(modules);
writeLicences(packages);
if (release) await writeDeclarations();

const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stderr.write(`built dist/ in ${seconds} s (${packages.length} packages bundled)\n`);

/** Returns the paths of all bundled modules. */
async function bundle() {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const bundled = await rolldown({
    input: { cli: "src/cli/bin.ts", index: "src/index.ts" },
    platform: "node",
    tsconfig: "tsconfig.json",
    external: (id) => isBuiltin(id),
    transform: { target: "node20", define: { __RLM_VERSION__: JSON.stringify(version) } },
    onLog(level, log, handle) {
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message);
      handle(level, log);
    },
  });
  const { output } = await bundled.write({
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    sourcemap: release ? false : "hidden",
    minify: release ? true : "dce-only",
    keepNames: true, // logs and stack traces show the names of errors
  });
  await bundled.close();
  chmodSync("dist/cli.js", 0o755);
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

function copyWorker() {
  if (!existsSync("python")) return;
  cpSync("python", "dist/python", {
    recursive: true,
    filter: (path) => path.endsWith(".py") || (statSync(path).isDirectory() && basename(path) !== "__pycache__"),
  });
}

/** The packages of the modules, sorted by name. */
function bundledPackages(ids) {
  const found = new Map();
  for (const id of ids) {
    const folder = packageFolder(id.replace(/^\0+/, "").replace(/[?\0].*$/, ""));
    if (folder === undefined || found.has(folder)) continue;
    found.set(folder, { folder, ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The package folder of a module in the innermost node_modules; undefined for our own modules. */
function packageFolder(path) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
}

function writeLicences(bundled) {
  const texts = bundled.map(({ name, version, license, folder }) => {
    const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)/i.test(entry));
    const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  const intro = "rlm-runtime contains code of the packages below, under their licences.\n";
  writeFileSync("THIRD_PARTY_LICENSES.txt", [intro, ...texts].join(`\n${"-".repeat(72)}\n\n`));
}
