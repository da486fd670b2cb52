// Loads Pyodide from the parts of an image: no file of the host is opened, and nothing of JavaScript is given to Python.
//
// `jsglobals` is an empty frozen object without a prototype. After the start three things happen: the modules that lead to JavaScript are
// removed (worker/wasm/remove_js.py), JavaScript is cut down (hardening.cjs), and WebAssembly loses what it could call of it (imports.cjs).
// The process can generate no code from strings, because it is started so.
"use strict";

/** Python itself, as WebAssembly. */
const BINARY = "pyodide.asm.wasm";
/** The scripts that build.cjs made of Pyodide's modules, and what each must export. */
const SCRIPTS = { "pyodide.mjs": "loadPyodide", "pyodide.asm.mjs": "createModule" };

/** The parameters of a script. */
const PARAMETERS = "exported require importModule startBinary restoreMemory guardImports growTable adapterOf".split(
  " ",
);

/** What V8 compiled of a script is in the image under this name. */
exports.compiledName = (name) => `${name}.compiled`;

/** Compiles them. V8 compiles them itself where the image has nothing, or where it comes from another version of V8. */
exports.openScripts = function openScripts(image, hasCompiled) {
  const toScript = (name) => {
    const text = `(function (${PARAMETERS.join()}) {"use strict";${image.text(name)}\n})`;
    const cachedData = hasCompiled ? image.bytes(exports.compiledName(name)) : undefined;
    return [name, new (require("node:vm").Script)(text, { filename: name, cachedData })];
  };
  return Object.fromEntries(Object.keys(SCRIPTS).map(toScript));
};

/** A promise of Python as V8 keeps it. Threads can share it. */
exports.compileBinary = (image) => WebAssembly.compile(image.bytes(BINARY));

/**
 * `options` are those of `loadPyodide`. `binary` is a promise of what V8 compiled, `snapshot` that of snapshot.cjs, or null to start without
 * one; `guardImports` is that of imports.cjs.
 */
exports.loadPython = async function loadPython(image, scripts, { binary, snapshot, guardImports }, options = {}) {
  const [{ loadPyodide }, { createModule }] = Object.keys(SCRIPTS).map((name) =>
    evaluate(scripts[name], name, {
      startBinary: (imports) => start(binary, imports),
      restoreMemory: (memory) => snapshot.restore(memory),
      guardImports,
    }),
  );
  const library = image.bytes("python_stdlib.zip");
  allowed = AT_START;
  const python = await withFiles({ "python_stdlib.zip": library }, () =>
    loadPyodide({
      indexURL: "/image",
      jsglobals: Object.freeze(Object.create(null)),
      lockFileContents: { info: JSON.parse(image.text("info.json")), packages: {} },
      packageBaseUrl: "/image/",
      createPyodideModule: createModule,
      env: { HOME: "/work", LANG: "C.UTF-8", TMPDIR: "/tmp", PYTHONDONTWRITEBYTECODE: "1" },
      checkAPIVersion: true,
      _sysExecutable: "python3", // else it is the first argument of the process
      ...(snapshot !== null && { _loadSnapshot: snapshot.head }),
      ...options,
    }),
  );
  allowed = LATER;
  return python;
};

/** What Pyodide may use of Node. Not `child_process`, `net` or `module`, which it would use for `system()` and sockets. */
const AT_START = ["node:crypto", "node:fs", "node:fs/promises", "node:path", "node:tty", "node:url", "node:vm"];
/** What Emscripten asks for later, when it first needs it. */
const LATER = ["node:crypto"];
let allowed = AT_START;

function allowedModule(name) {
  if (!allowed.includes(name)) throw new Error(`a session does not have the module ${name}`);
  return require(name);
}

async function importModule(name) {
  const found = allowedModule(name);
  return { ...found, default: found };
}

async function start(binary, imports) {
  const module = await binary;
  return { module, instance: await WebAssembly.instantiate(module, imports) };
}

function evaluate(script, name, hooks) {
  const exported = {};
  const given = { exported, require: allowedModule, importModule, growTable, adapterOf, ...hooks };
  script.runInThisContext()(...PARAMETERS.map((each) => given[each]));
  if (typeof exported[SCRIPTS[name]] !== "function") throw new Error(`${name} exports no ${SCRIPTS[name]}`);
  return exported;
}

const GROWTH = 4096;
const adapters = new Map();

/** The first of some free places in a table; the others are added to the list of free ones. */
function growTable(table, free) {
  const first = table.grow(GROWTH);
  for (let index = first + GROWTH - 1; index > first; index -= 1) free.push(index);
  return first;
}

/** The module that makes a function of JavaScript one of WebAssembly. It depends on the signature alone. */
function adapterOf(signature, bytes) {
  const known = adapters.get(signature);
  if (known !== undefined) return known;
  const made = new WebAssembly.Module(bytes);
  adapters.set(signature, made);
  return made;
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
