// Makes the image of a guest from a folder of Pyodide and our Python code: `node FLAGS build.cjs PYODIDE PYTHON IMAGE`.
//
// Python is started once, imports the worker, and its memory is kept: a session starts from there. Only our own code runs here.
"use strict";

const { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } = require("node:fs");
const path = require("node:path");

const { imageOf, writeImage } = require("./image.cjs");
const { createImportGuard } = require("./imports.cjs");
const { compileBinary, compiledName, loadPython, openScripts } = require("./python.cjs");
const { openSnapshot, toParts } = require("./snapshot.cjs");

const join = (...parts) => path.join(...parts);

const SOURCES = [
  "image.cjs",
  "main.cjs",
  "python-thread.cjs",
  "reading-thread.cjs",
  "readers.cjs",
  "session.cjs",
  "python.cjs",
  "imports.cjs",
  "hardening.cjs",
  "snapshot.cjs",
  "devices.cjs",
  "folders.cjs",
];
const BINARIES = ["pyodide.asm.wasm", "python_stdlib.zip"];

/** What is replaced in Pyodide's modules: they become scripts, and get what they need as arguments (python.cjs). */
const IMPORTS = [/\bimport\(/g, "importModule("];
const IN_LOADER = [
  IMPORTS,
  [/\/\/# sourceMappingURL=.*/g, ""],
  [/export\s*\{\s*(\w+) as loadPyodide,[^}]*\};?/g, "exported.loadPyodide=$1;"],
  [/\{binary:(\w+),response:(\w+)\}=\w+\(\w+\+"pyodide\.asm\.wasm"\)/g, " $1,$2"],
  [/WebAssembly\.instantiate\(await \w+,(\w+)\)/g, "startBinary($1)"],
];
const IN_MODULE = [
  ['const{createRequire}=await import("node:module");var require=createRequire(import.meta.url)', ""],
  IMPORTS,
  ["import.meta.url", '"file:///image/pyodide.asm.mjs"'],
  [/export default (\w+);?/g, "exported.createModule=$1;"],
  ["return Module.HEAP8.set(t),", "return restoreMemory(Module.HEAP8),"],
  ["env:wasmImports,", "env:guardImports(wasmImports),"],
  ["return readBinary(libFile)", 'throw new Error("no such file")'], // it would be one of the process
  // Thousands of functions get a place in the table: not one by one, and one adapter is compiled for each signature.
  ['return wasmTable["grow"](1)', "return growTable(wasmTable,freeTableIndexes)"],
  ["wasmTableMirror[idx]=wasmTable.get(idx)", "wasmTableMirror[idx]=func"],
  ["new WebAssembly.Module(bytes)", "adapterOf(sig,bytes)"],
];
/** Without a snapshot, and with all of JavaScript. */
const toStart = (image) => ({
  binary: compileBinary(image),
  snapshot: null,
  guardImports: createImportGuard().guardImports,
});
/** Where our Python code is while the snapshot is made. No session has these files. */
const WORKER = "/lib/rlm/worker";

async function main([pyodide, python, target]) {
  const temporary = mkdtempSync(join(path.dirname(target), "making-"));
  try {
    const parts = {
      ...Object.fromEntries(SOURCES.map((name) => [name, readFileSync(join(__dirname, name))])),
      ...Object.fromEntries(BINARIES.map((name) => [name, readFileSync(join(pyodide, name))])),
      "info.json": Buffer.from(
        JSON.stringify(JSON.parse(readFileSync(join(pyodide, "pyodide-lock.json"), "utf8")).info),
      ),
      "pyodide.mjs": toScript(readFileSync(join(pyodide, "pyodide.mjs"), "utf8"), IN_LOADER),
      "pyodide.asm.mjs": toScript(readFileSync(join(pyodide, "pyodide.asm.mjs"), "utf8"), IN_MODULE),
    };
    const image = imageOf(parts);
    Object.assign(parts, toParts(await takeSnapshot(image, join(python, "worker"))));
    Object.assign(parts, await compile(image));
    const made = join(temporary, "image");
    writeImage(made, parts);
    renameSync(made, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** A module as the body of a function that sets its export. */
function toScript(source, changes) {
  let text = source;
  for (const [part, replacement] of changes) {
    const changed = text.replaceAll(part, replacement);
    if (changed === text) throw new Error(`this version of Pyodide has no '${part}' where it is expected`);
    text = changed;
  }
  return Buffer.from(text);
}

async function takeSnapshot(image, folder) {
  const python = await loadPython(image, openScripts(image, false), toStart(image), { _makeSnapshot: true });
  for (const { parentPath, path: older, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const source = parentPath ?? older; // before Node 20.12 it has the other name
    if (!name.endsWith(".py")) continue;
    const inside = WORKER + source.slice(folder.length);
    python.FS.mkdirTree(inside);
    python.FS.writeFile(`${inside}/${name}`, readFileSync(join(source, name)));
  }
  python.runPython(`
import importlib.util, sys
def load():
    spec = importlib.util.spec_from_file_location("_rlm_worker", "${WORKER}/__init__.py", submodule_search_locations=["${WORKER}"])
    package = sys.modules["_rlm_worker"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
load()
from _rlm_worker.wasm import entry
entry.prepare()
globals().clear()
`);
  return Buffer.from(python.makeMemorySnapshot());
}

/** What V8 has compiled of the scripts when a session has started. */
async function compile(image) {
  const scripts = openScripts(image, false);
  await loadPython(image, scripts, { ...toStart(image), snapshot: openSnapshot(image) });
  return Object.fromEntries(
    Object.entries(scripts).map(([name, script]) => [compiledName(name), script.createCachedData()]),
  );
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error?.stack ?? error}\n`);
  process.exitCode = 1;
});
