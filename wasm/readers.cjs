// Reads the pipes from the host while Python blocks the other thread, and passes on what comes.
//
// SIGINT and the lines of `aside` must reach running code: both set the interrupt buffer, which Python checks between bytecodes. When the
// host is gone the process ends.
"use strict";

const { Socket } = require("node:net");

const SIGINT = 2;
/** Python runs a handler of ours for it, which handles the lines of `aside`. */
const SIGUSR1 = 10;
const TICK_MS = 10;
/** Bytes of a pipe that the other thread has not taken. With more, the pipe is not read. */
const MAX_WAITING = 4 * 1024 * 1024;

/** Returns a function that interrupts code. `port` leads to the Python thread. */
exports.readPipes = function readPipes({ settings, interrupt, waking, port }) {
  const wake = () => {
    Atomics.add(waking, 0, 1);
    Atomics.notify(waking, 0);
  };
  const stop = () => {
    Atomics.store(interrupt, 0, SIGINT);
    wake();
  };
  for (const name of ["commands", "aside"]) {
    const socket = new Socket({ fd: settings[name], readable: true, writable: false });
    let waiting = 0;
    socket.on("data", (chunk) => {
      port.postMessage([name, chunk]);
      if (name === "aside") Atomics.compareExchange(interrupt, 0, 0, SIGUSR1);
      wake();
      waiting += chunk.length;
      if (waiting > MAX_WAITING) socket.pause();
    });
    port.on("message", (message) => {
      if (message.taken !== name) return;
      waiting -= message.bytes;
      if (waiting <= MAX_WAITING) socket.resume();
    });
    socket.on("error", () => {});
    socket.on("close", () => process.kill(process.pid, "SIGKILL")); // the other thread may wait in a system call
  }
  if (settings.interrupts !== undefined) {
    const socket = new Socket({ fd: settings.interrupts, readable: true, writable: false });
    socket.on("data", stop); // where no signal can be sent to the process
    socket.on("error", () => {});
  }
  let ticking;
  port.on("message", ({ tick }) => {
    if (tick === undefined) return;
    clearInterval(ticking);
    const remind = () => Atomics.compareExchange(interrupt, 0, 0, SIGUSR1);
    if (tick) ticking = setInterval(remind, TICK_MS);
  });
  return stop;
};
