// Builds dist/: the entries of the package as one set of split chunks, the program as another, the page, and a copy of the Python worker.
//
//   node scripts/build.mjs [--release]         release: minified, with type declarations
//
// Libraries are bundled, so a user installs one package; their licences go to THIRD_PARTY_LICENSES.txt. Chunks are all
// directly in dist/: whichever of them asks, `new URL("./python/", import.meta.url)` is the worker's folder. Entries share their chunks, so
// that an error thrown through one is an instance of the class of another; what a browser loads is checked by browser-bundle.mjs. The
// program is CommonJS, which starts faster than modules: it is read without waiting, and V8 can cache it (src/cli/code-cache.ts).
import { chmodSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { esmExternalRequirePlugin } from "rolldown/plugins";
import { checkBrowserBundle } from "./browser-bundle.mjs";
import { writeDeclarations } from "./declarations/write.mjs";
import { ENTRIES } from "./entries.mjs";
import { buildPage } from "./page/build-page.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const release = process.argv.includes("--release");
const started = performance.now();

const NODE_MODULES = builtinModules.flatMap((name) => [name, `node:${name}`]);

/** What libraries require beyond Node's modules. A chunk that all share would need `node:module` for it, which browsers lack. */
const WITHOUT_REQUIRE = {
  // `ws` has two optional native modules, which a user of ours does not have. `pino` asks which module was started.
  define: {
    "process.env.WS_NO_BUFFER_UTIL": JSON.stringify("1"),
    "process.env.WS_NO_UTF_8_VALIDATE": JSON.stringify("1"),
    "require.main": "undefined",
  },
  plugin: {
    name: "without-native-modules",
    resolveId: (id) => (/^(?:bufferutil|utf-8-validate)$/.test(id) ? "\0native-module" : null),
    load: (id) => (id === "\0native-module" ? "module.exports = {};" : null),
  },
};

// setup.mjs remembers its last build; a manual build makes it check again.
rmSync("node_modules/.cache/rlm/build", { force: true });
rmSync("dist", { recursive: true, force: true });

const chunks = await bundle(
  Object.fromEntries(ENTRIES.map(({ output, source }) => [output.replace(/\.js$/, ""), source])),
  // Node's modules are external. Where a library requires one it gets an import.
  { plugins: [esmExternalRequirePlugin({ external: NODE_MODULES })] },
  { format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
);
const programChunks = await bundle(
  { cli: "src/cli/bin.ts" },
  { external: NODE_MODULES },
  { format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "[name]-[hash].cjs" },
);
chmodSync("dist/cli.cjs", 0o755);
for (const { output, isForBrowsers } of ENTRIES) if (isForBrowsers) checkBrowserBundle(chunks, output, { release });
copyWorker();
const pageChunks = await buildPage({ release });
const packages = bundledPackages([...chunks, ...programChunks, ...pageChunks].flatMap(({ moduleIds }) => moduleIds));
writeLicences(packages);
if (release) await writeDeclarations();

const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stderr.write(`built dist/ in ${seconds} s (${packages.length} packages bundled)\n`);

/** Returns the chunks that were written. */
async function bundle(input, { plugins = [], ...options }, output) {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const bundled = await rolldown({
    input,
    ...options,
    platform: "node",
    tsconfig: "tsconfig.json",
    plugins: [WITHOUT_REQUIRE.plugin, ...plugins],
    treeshake: { moduleSideEffects: "no-external" }, // importing a module of Node's does nothing
    transform: { target: "node20", define: { __RLM_VERSION__: JSON.stringify(version), ...WITHOUT_REQUIRE.define } },
    onLog(level, log, handle) {
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message);
      handle(level, log);
    },
  });
  const { output: written } = await bundled.write({
    dir: "dist",
    ...output,
    sourcemap: release ? false : "hidden",
    // Lines stay: for an error that nobody catches, Node prints the line that threw it.
    minify: release ? { compress: true, mangle: true, codegen: { removeWhitespace: false } } : "dce-only",
    keepNames: true, // logs and stack traces show the names of errors
  });
  await bundled.close();
  return written.filter(({ type }) => type === "chunk");
}

function copyWorker() {
  if (!existsSync("python")) return;
  cpSync("wasm", "dist/wasm", { recursive: true });
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
