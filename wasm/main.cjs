// The main thread of a session's Node process: it passes signals and messages to the thread that runs Python.
//
// Python blocks its thread, so the pipes from the host are read here. SIGINT and the lines of `aside` must reach running code: both set
// the interrupt buffer, which Python checks between bytecodes. When the host is gone the process ends.
"use strict";

const { Worker } = require("node:worker_threads");
const { Socket } = require("node:net");

const SIGINT = 2;
/** Python runs a handler of ours for it, which handles the lines of `aside`. */
const SIGUSR1 = 10;

const TICK_MS = 10;
/** Bytes of a pipe that the thread has not taken. With more, the pipe is not read. */
const MAX_WAITING = 4 * 1024 * 1024;

/** `image` has the parts of the guest (image.mjs); `settings` are the arguments of the process. */
exports.start = function start(image, settings) {
  const interrupt = new Uint8Array(new SharedArrayBuffer(1));
  const waking = new Int32Array(new SharedArrayBuffer(4));
  const { port1: ours, port2: theirs } = new MessageChannel();
  const wake = () => {
    Atomics.add(waking, 0, 1);
    Atomics.notify(waking, 0);
  };
  process.on("SIGINT", () => {
    Atomics.store(interrupt, 0, SIGINT);
    wake();
  });
  const worker = new Worker(image.text("thread.cjs"), {
    eval: true,
    env: {},
    stdin: false,
    workerData: { settings, interrupt, waking, port: theirs, boot: image.text("image.cjs") },
    transferList: [theirs],
  });
  worker.on("error", (error) => die(error));
  worker.on("exit", (code) => die(new Error(`the thread of Python ended with ${code}`)));
  const sockets = { commands: openPipe(settings.commands), aside: openPipe(settings.aside) };
  for (const [name, socket] of Object.entries(sockets)) {
    let waiting = 0;
    socket.on("data", (chunk) => {
      ours.postMessage([name, chunk]);
      if (name === "aside") Atomics.compareExchange(interrupt, 0, 0, SIGUSR1);
      wake();
      waiting += chunk.length;
      if (waiting > MAX_WAITING) socket.pause();
    });
    ours.on("message", (message) => {
      if (message.taken !== name) return;
      waiting -= message.bytes;
      if (waiting <= MAX_WAITING) socket.resume();
    });
    socket.on("error", () => {});
    socket.on("close", () => process.kill(process.pid, "SIGKILL")); // the host is gone, and the thread may wait in a system call
  }
  let ticking;
  ours.on("message", ({ exit, tick }) => {
    if (exit !== undefined) process.exit(exit); // the thread waits meanwhile
    if (tick === undefined) return;
    clearInterval(ticking);
    const remind = () => Atomics.compareExchange(interrupt, 0, 0, SIGUSR1);
    if (tick) ticking = setInterval(remind, TICK_MS);
  });
};

function openPipe(fd) {
  return new Socket({ fd, readable: true, writable: false });
}

/** Kills this process, so that the host cannot take its end for a regular exit. */
function die(error) {
  try {
    require("node:fs").writeSync(2, `worker: ${error?.stack ?? error}\n`.slice(0, 4096));
  } catch {
    // nobody reads it
  }
  process.kill(process.pid, "SIGKILL");
}
