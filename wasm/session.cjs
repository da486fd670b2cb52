// Runs Python in the calling thread. It never returns: Python reads commands, and waits, in system calls of this thread.
"use strict";

exports.runSession = async function runSession(image, shared, load) {
  const { settings, interrupt } = shared;
  if (settings.isSeatBelt) {
    // The permission model has no bindings, and Emscripten asks for these numbers only.
    process.binding = () => ({ fs: require("node:fs").constants });
  }
  const { loadPython, openScripts } = load("python.cjs");
  const scripts = openScripts(image, true);
  // Not before: V8 takes compiled code only with the flags that it was compiled with.
  require("node:v8").setFlagsFromString(`--wasm-max-mem-pages=${settings.pages}`);
  const python = await loadPython(image, scripts, load("snapshot.cjs").openSnapshot(image));
  python.setInterruptBuffer(interrupt);
  for (const name of ["js", "pyodide_js"]) python.unregisterJsModule(name);
  try {
    load("folders.cjs").mountFolders(python.FS, settings);
    load("devices.cjs").attachDevices(python.FS, shared);
  } catch (error) {
    // An error of Emscripten's file system has a number and no message.
    throw error instanceof Error ? error : new Error(`the file system failed with error ${error?.errno} of Emscripten`);
  }
  python.globals.set("settings", JSON.stringify({ ...settings, devices: "/dev/rlm" }));
  python.runPython("from _rlm_worker.wasm import entry; entry.run(globals().pop('settings'))");
};
