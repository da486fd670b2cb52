// The thread that runs Python. It never returns: Python reads commands, and waits, in system calls of this thread.
"use strict";

const vm = require("node:vm");
const { workerData } = require("node:worker_threads");

const { settings, interrupt, waking, port, boot } = workerData;

/** Runs the source of a CommonJS module of the image. */
function load(source, filename) {
  const module = { exports: {} };
  const script = new vm.Script(`(function (module, exports, require) {${source}\n})`, { filename });
  script.runInThisContext()(module, module.exports, require);
  return module.exports;
}

async function main() {
  const image = load(boot, "image.cjs").openImage(settings.image);
  const { loadPython } = load(image.text("python.cjs"), "python.cjs");
  const { attachDevices } = load(image.text("devices.cjs"), "devices.cjs");
  const { mountFolders } = load(image.text("folders.cjs"), "folders.cjs");
  const python = await loadPython(image, { _loadSnapshot: image.bytes("snapshot") });
  python.setInterruptBuffer(interrupt);
  for (const name of ["js", "pyodide_js"]) python.unregisterJsModule(name);
  mountFolders(python.FS, settings);
  attachDevices(python.FS, { settings, interrupt, waking, port });
  python.globals.set("settings", JSON.stringify({ ...settings, devices: "/dev/rlm" }));
  python.runPython("from _rlm_worker.wasm import entry; entry.run(globals().pop('settings'))");
}

main().catch((error) => {
  // An error of Emscripten's file system has a number and no message.
  throw error instanceof Error ? error : new Error(`the file system failed with error ${error?.errno} of Emscripten`);
});
