// Programs that use the package, bundled by esbuild, rolldown and webpack.
//
//   node scripts/bundlers.mjs TARBALL      exit code 75: the bundlers cannot be installed here
//
// One for Node with the runtime: without the Python folder it must say what to do, and what it says must help. One for browsers with the
// client: it must work against a server.

import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { installTools } from "./install-tools.mjs";
import { startServer } from "./platforms/serve.mjs";

const TOOLS = { esbuild: "0.28.2", rolldown: "1.2.15", webpack: "5.112.2" };
const ADVICE = /Mark rlm-runtime as external in the bundler, or copy .*dist\/python next to the bundle/;
const APP = `import { openRuntime } from "rlm-runtime";

try {
  const runtime = await openRuntime({ poolSize: 0, preload: [] });
  const session = await runtime.openSession();
  console.log((await session.execute("1 + 1")).text);
  await runtime.close();
} catch (error) {
  console.log(error.code, error.message);
}
`;

const tarball = resolve(process.argv[2]);
const temp = mkdtempSync(join(tmpdir(), "rlm-bundlers-"));
try {
  process.exitCode = await main();
} finally {
  rmSync(temp, { recursive: true, force: true });
}

async function main() {
  if (!installTools(temp, TOOLS, "the bundlers")) return 75;
  const npm = ["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--offline", tarball];
  execFileSync("npm", npm, { cwd: temp, stdio: ["ignore", 2, 2] });
  writeFileSync(join(temp, "app.mjs"), APP);
  cpSync(fileURLToPath(new URL("platforms/client.mjs", import.meta.url)), join(temp, "client.mjs"));
  const bundlers = await loadBundlers();
  const server = await startServer(temp);
  let failures = 0;
  try {
    for (const [name, bundle] of Object.entries(bundlers)) {
      const problem = await tryBundler(name, bundle, server).catch((error) =>
        String(error.stderr || error.stack || error),
      );
      process.stderr.write(`${name} ${TOOLS[name]}: ${problem ?? "ok"}\n`);
      if (problem !== undefined) failures += 1;
    }
  } finally {
    await server.close();
  }
  return failures > 0 ? 1 : 0;
}

/** Undefined: everything is as it should be. */
async function tryBundler(name, bundle, server) {
  const node = join(temp, "out", name, "node");
  await bundle({ input: join(temp, "app.mjs"), folder: node, platform: "node" });
  const first = await run(node, []);
  if (first !== "2") {
    if (!ADVICE.test(first)) return `a bundled runtime printed '${first}'`;
    cpSync(join(temp, "node_modules/rlm-runtime/dist/python"), join(node, "python"), { recursive: true });
    const second = await run(node, []);
    if (second !== "2") return `a bundled runtime with the Python folder beside it printed '${second}'`;
  }
  const external = join(temp, "out", name, "external");
  await bundle({ input: join(temp, "app.mjs"), folder: external, platform: "node", external: ["rlm-runtime"] });
  const third = await run(external, []);
  if (third !== "2") return `a program with the package as external printed '${third}'`;
  const browser = join(temp, "out", name, "browser");
  await bundle({ input: join(temp, "client.mjs"), folder: browser, platform: "browser" });
  const code = readdirSync(browser).map((file) => readFileSync(join(browser, file), "utf8"));
  if (code.some((text) => /["'`]node:/.test(text))) return "the client for browsers imports modules of Node";
  const fourth = await run(browser, [server.url, server.token]);
  return fourth === "ok" ? undefined : `the client for browsers printed '${fourth}'`;
}

async function run(folder, args) {
  const env = { PATH: process.env.PATH, HOME: temp, RLM_DATA: join(temp, "data") };
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "main.mjs"), ...args], {
    env,
    timeout: 60_000,
  });
  return stdout.trim();
}

/** Each makes `main.mjs` in a folder. */
async function loadBundlers() {
  const require = createRequire(join(temp, "package.json"));
  const { rolldown } = await import(pathToFileURL(require.resolve("rolldown")).href);
  const esbuild = require("esbuild");
  const webpack = require("webpack");
  return {
    esbuild: ({ input, folder, platform, external = [] }) =>
      esbuild.build({
        entryPoints: { main: input },
        outdir: folder,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        splitting: true,
        minify: true,
        format: "esm",
        target: "es2022",
        platform,
        external,
        logLevel: "error",
      }),
    rolldown: async ({ input, folder, platform, external = [] }) => {
      const bundle = await rolldown({ input: { main: input }, platform, external });
      await bundle.write({
        dir: folder,
        entryFileNames: "[name].mjs",
        chunkFileNames: "[name]-[hash].mjs",
        minify: true,
      });
      await bundle.close();
    },
    webpack: ({ input, folder, platform, external = [] }) =>
      new Promise((done, reject) => {
        mkdirSync(folder, { recursive: true });
        const config = {
          mode: "production",
          target: platform === "node" ? "node20" : ["web", "es2022"],
          context: temp,
          entry: { main: input },
          output: {
            path: folder,
            filename: "[name].mjs",
            chunkFilename: "[name].mjs",
            module: true,
            chunkFormat: "module",
            library: { type: "module" },
          },
          experiments: { outputModule: true },
          externals: external,
          externalsType: "module",
        };
        webpack(config, (error, stats) => {
          const problem = error ?? (stats.hasErrors() ? new Error(stats.toString({ all: false, errors: true })) : null);
          if (problem === null) done();
          else reject(problem);
        });
      }),
  };
}
