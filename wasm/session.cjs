// Runs Python in the calling thread. It never returns: Python reads commands, and waits, in system calls of this thread.
"use strict";

exports.runSession = async function runSession(image, shared, load) {
  const { settings, interrupt } = shared;
  if (settings.isSeatBelt) {
    // The permission model has no bindings, and Emscripten asks for these numbers only.
    process.binding = () => ({ fs: require("node:fs").constants });
  }
  const python = await load("python.cjs").loadPython(image, { _loadSnapshot: image.bytes("snapshot") });
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
