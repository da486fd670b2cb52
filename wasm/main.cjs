// The start of a session's Node process, which has two threads: one runs Python and blocks, the other reads the pipes.
//
// In a sandbox Python has a thread of its own, so that the main thread gets signals. Behind the permission model of Node alone
// (`settings.isSeatBelt`) Python runs in the main thread, because that model does not hold in other threads.
"use strict";

const { Worker } = require("node:worker_threads");

/** Stack of the Python thread: code may recurse deeply in C (session.cjs). What is not used costs no memory. */
const STACK_MIB = 256;

/** `load` runs a part of the image as a module; `settings` are the arguments of the process. */
exports.start = function start(image, settings, load) {
  const shared = {
    settings,
    interrupt: new Uint8Array(new SharedArrayBuffer(1)),
    waking: new Int32Array(new SharedArrayBuffer(4)),
    waiting: new Int32Array(new SharedArrayBuffer(8)),
    codes: { image: image.text("image.cjs"), readers: image.text("readers.cjs") },
  };
  const { port1: ours, port2: theirs } = new MessageChannel();
  const worker = new Worker(image.text(settings.isSeatBelt ? "reading-thread.cjs" : "python-thread.cjs"), {
    eval: true,
    env: {},
    stdin: false,
    resourceLimits: settings.isSeatBelt ? {} : { stackSizeMb: STACK_MIB },
    workerData: { ...shared, port: theirs },
    transferList: [theirs],
  });
  worker.on("error", (error) => die(error));
  worker.on("exit", (code) => die(new Error(`a thread ended with ${code}`)));
  const compile = () => load("python.cjs").compileBinary(image);
  if (settings.isSeatBelt) {
    const exit = process.reallyExit.bind(process); // `process` is cut down later
    load("session.cjs")
      .runSession(image, { ...shared, port: ours, binary: compile(), exit }, load)
      .catch(die);
    return;
  }
  const stop = load("readers.cjs").readPipes({ ...shared, port: ours });
  process.on("SIGINT", stop);
  ours.on("message", ({ exit }) => {
    if (exit !== undefined) process.exit(exit); // the Python thread waits meanwhile
  });
  compile() // while the thread starts
    .then((binary) => worker.postMessage(binary, []))
    .catch(die);
};

/** Kills this process, so that the host cannot take its end for a regular exit. */
function die(error) {
  try {
    require("node:fs").writeSync(2, `worker: ${error?.stack ?? error}\n`.slice(0, 4096));
  } catch {
    // nobody reads it
  }
  process.kill(process.pid, "SIGKILL");
}
