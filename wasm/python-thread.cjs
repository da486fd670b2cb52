// The thread that runs Python, where the main thread reads the pipes.
"use strict";

const { Script } = require("node:vm");
const { parentPort, workerData } = require("node:worker_threads");

function run(source, filename) {
  const module = { exports: {} };
  const text = `(function (module, exports, require) {${source}\n})`;
  new Script(text, { filename }).runInThisContext()(module, module.exports, require);
  return module.exports;
}

const { settings, port, codes } = workerData;
const binary = new Promise((resolve) => parentPort.once("message", resolve));
const image = run(codes.image, "image.cjs").openImage(settings.image);
const load = (name) => run(image.text(name), name);
const exit = (code) => {
  port.postMessage({ exit: code });
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(nothing, 0, 0); // the main thread ends the process
};
void load("session.cjs").runSession(image, { ...workerData, binary, exit }, load);
