// Runs an example of a clone with any Node that the package supports. Node 20 runs neither TypeScript nor `await using`, so both are
// translated first; `rlm-runtime` is the build in dist/.
//
//   npm run example                 lists them
//   npm run example -- session      runs examples/session.ts

import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { ENTRIES } from "./entries.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const [name, ...rest] = process.argv.slice(2);
const files = ["examples", "examples/http"].flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => /\.(?:ts|mjs)$/.test(file))
    .map((file) => join(folder, file)),
);
const wanted = files.find((file) => toName(file) === name?.replace(/\.(?:ts|mjs)$/, "").replace(/^examples\//, ""));

if (name === undefined) process.stdout.write(`npm run example -- NAME\n\n${files.map(toName).join("\n")}\n`);
else if (wanted === undefined || rest.length > 0) fail(`there is no example '${[name, ...rest].join(" ")}'`, 2);
else if (!existsSync("dist/index.js")) fail("dist/ is not built: npm run build", 1);
else await import(pathToFileURL(await translate(wanted)).href);

function toName(file) {
  return file.replace(/^examples\/|\.(?:ts|mjs)$/g, "");
}

function fail(why, exitCode) {
  process.stderr.write(`example: ${why}; npm run example lists them\n`);
  process.exitCode = exitCode;
}

/** The file to run. It is overwritten every time, so nothing accumulates. */
async function translate(source) {
  const file = resolve("node_modules/.cache/rlm", source.replace(/\.ts$/, ".mjs"));
  const bundled = await rolldown({
    input: source,
    platform: "node",
    plugins: [{ name: "examples", resolveId, transform }],
    transform: { target: "node20" },
  });
  await bundled.write({ file, format: "esm" });
  await bundled.close();
  return file;
}

/** Only the files of the example are translated. */
function resolveId(id) {
  const entry = ENTRIES.find((one) => one.name === id);
  if (entry !== undefined) return { id: pathToFileURL(join("dist", entry.output)).href, external: true };
  return id.startsWith(".") || id.startsWith("examples/") ? null : { id, external: true };
}

/** Files beside an example are found where it is, not where its translation is. */
function transform(code, id) {
  return code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
}
