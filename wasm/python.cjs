// Loads Pyodide from the parts of an image: no file of the host is opened, and nothing of JavaScript is given to Python.
//
// `module` makes Pyodide from a snapshot, or to make one. `jsglobals` is an empty frozen object without a prototype. After the start the
// modules that lead to JavaScript are removed (worker/wasm/closing.py); what is left of them can generate no code from strings, because
// the process is started so.
"use strict";

/** `options` are those of `loadPyodide`. */
exports.loadPython = async function loadPython(image, options) {
  const { loadPyodide } = evaluate(image.text("pyodide.mjs"), "pyodide.mjs", "loadPyodide");
  const { createModule } = evaluate(image.text("pyodide.asm.mjs"), "pyodide.asm.mjs", "createModule");
  const binary = image.bytes("pyodide.asm.wasm");
  const library = image.bytes("python_stdlib.zip");
  return withFiles({ "pyodide.asm.wasm": binary, "python_stdlib.zip": library }, () =>
    loadPyodide({
      indexURL: "/image",
      jsglobals: Object.freeze(Object.create(null)),
      lockFileContents: { info: JSON.parse(image.text("info.json")), packages: {} },
      packageBaseUrl: "/image/",
      createPyodideModule: createModule,
      env: { HOME: "/work", LANG: "C.UTF-8", TMPDIR: "/tmp", PYTHONDONTWRITEBYTECODE: "1" },
      checkAPIVersion: true,
      ...options,
    }),
  );
};

/** What Pyodide may use of Node. Not `child_process`, `net` or `module`, which it would use for `system()` and sockets. */
const ALLOWED = new Set(["node:crypto", "node:fs", "node:fs/promises", "node:path", "node:tty", "node:url", "node:vm"]);

function allowedModule(name) {
  if (!ALLOWED.has(name)) throw new Error(`a session does not have the module ${name}`);
  return require(name);
}

async function importModule(name) {
  const found = allowedModule(name);
  return { ...found, default: found };
}

/** Runs a script that build.cjs made of a module. */
function evaluate(source, filename, name) {
  const exported = {};
  const text = `(function (exported, require, importModule) {"use strict";${source}\n})`;
  const script = new (require("node:vm").Script)(text, { filename });
  script.runInThisContext()(exported, allowedModule, importModule);
  if (typeof exported[name] !== "function") throw new Error(`${filename} exports no ${name}`);
  return exported;
}

/** Pyodide reads its files by path. While it starts, those of the image are found there. */
async function withFiles(files, step) {
  const promises = require("node:fs/promises");
  const { readFile } = promises;
  promises.readFile = async (path, ...rest) => {
    const name = typeof path === "string" && path.startsWith("/image/") ? path.slice(7) : "";
    return Object.hasOwn(files, name) ? files[name] : readFile(path, ...rest);
  };
  try {
    return await step();
  } finally {
    promises.readFile = readFile;
  }
}
