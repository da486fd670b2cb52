// Runs Python in the calling thread. It never returns: Python reads commands, and waits, in system calls of this thread.
"use strict";

const { writeSync } = require("node:fs");

/**
 * Python limits recursion by its own stack, in the memory of WebAssembly. The thread has another, of which some functions use up to 60
 * times as much. So Python may use no more than this: a RecursionError comes before the thread's stack is full, which ends the process.
 */
const STACK_BYTES = 4 * 1024 * 1024;
/** Where the seat belt got no large stack. Deep recursion still ends the process there. */
const SMALL_STACK_BYTES = 256 * 1024;

/** `shared.binary` is a promise (python.cjs). */
exports.runSession = async function runSession(image, shared, load) {
  const die = createKill();
  try {
    await run(image, shared, load, die);
  } catch (error) {
    die(reasonOf(error));
  }
};

async function run(image, shared, load, die) {
  const { settings, interrupt, binary } = shared;
  if (settings.isSeatBelt) {
    // The permission model has no bindings, and Emscripten asks for these numbers only.
    process.binding = () => ({ fs: require("node:fs").constants });
  }
  const { loadPython, openScripts } = load("python.cjs");
  const scripts = openScripts(image, true);
  // Not before: V8 takes compiled code only with the flags that it was compiled with.
  require("node:v8").setFlagsFromString(`--wasm-max-mem-pages=${settings.pages}`);
  const { guardImports, close } = load("imports.cjs").createImportGuard();
  const python = await loadPython(image, scripts, {
    binary,
    snapshot: load("snapshot.cjs").openSnapshot(image),
    guardImports,
  });
  optimizeEarly();
  python.setInterruptBuffer(interrupt);
  for (const name of ["js", "pyodide_js"]) python.unregisterJsModule(name);
  const { applyUmask, mountFolders } = load("folders.cjs");
  mountFolders(python.FS, settings);
  const umask = applyUmask(python.FS);
  load("devices.cjs").attachDevices(python.FS, { ...shared, die });
  limitStack(python._module, process.argv.includes("small-stack") ? SMALL_STACK_BYTES : STACK_BYTES);
  const { _PyRun_SimpleString, stringToNewUTF8 } = python._module;
  const runCode = (code) => _PyRun_SimpleString(stringToNewUTF8(code)); // by no way that needs JavaScript
  const isRemoved = runCode("from _rlm_worker.wasm import remove_js; remove_js.remove_js()") === 0;
  if (!isRemoved) throw new Error("the modules of Pyodide could not be removed");
  load("hardening.cjs").harden({ umask });
  close({
    canLoad: settings.wheels !== null,
    exit: shared.exit,
    refuse: (name) => die(`code in WebAssembly called '${name}', which it does not have`),
  });
  const text = JSON.stringify(JSON.stringify({ ...settings, devices: "/dev/rlm" })); // a string of Python's, too
  runCode(`from _rlm_worker.wasm import entry; entry.run(${text})`);
  throw new Error("the worker ended");
}

/** What is compiled from now on runs with every command. Newer versions of V8 optimize early anyway, and lack this flag. */
function optimizeEarly() {
  if (Number.parseInt(process.versions.v8) < 12) require("node:v8").setFlagsFromString("--interrupt-budget=10000");
}

function limitStack(module, bytes) {
  const start = module._emscripten_stack_get_base();
  module._PyUnstable_ThreadState_SetStackProtection(module._PyThreadState_Get(), start - bytes, bytes);
}

/** A function that kills this process, so that the host cannot take its end for a regular exit. It needs nothing of `process` later. */
function createKill() {
  const { pid } = process;
  const kill = process._kill.bind(process);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  return (reason) => {
    try {
      writeSync(2, `worker: ${reason}\n`.slice(0, 4096));
    } catch {
      // nobody reads it
    }
    kill(pid, 9);
    for (;;) Atomics.wait(nothing, 0, 0);
  };
}

/** One line. An error of Emscripten's file system has a number and no message. */
function reasonOf(error) {
  if (error instanceof Error) return `${error.name}: ${error.message}`.split("\n").at(0);
  return error?.errno === undefined ? String(error) : `the file system failed with error ${error.errno} of Emscripten`;
}
