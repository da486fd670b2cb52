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

/** Runs a script that image.mjs made of a module. It may import modules of Node's, and no others. */
function evaluate(source, filename, name) {
  const vm = require("node:vm");
  const exported = {};
  const script = new vm.Script(`(function (exported, require) {${source}\n})`, {
    filename,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  script.runInThisContext()(exported, require);
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
  require("node:module").syncBuiltinESMExports();
  try {
    return await step();
  } finally {
    promises.readFile = readFile;
    require("node:module").syncBuiltinESMExports();
  }
}
