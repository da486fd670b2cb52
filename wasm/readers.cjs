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
/** In the order of `waiting`, which has the bytes of each that the other thread has not taken. */
const PIPES = ["commands", "aside"];
/** With more waiting, a pipe is not read (devices.cjs). */
const MAX_WAITING = 4 * 1024 * 1024;

/** Returns a function that interrupts code. `port` leads to the Python thread. */
exports.readPipes = function readPipes({ settings, interrupt, waking, waiting, port }) {
  const wake = () => {
    Atomics.add(waking, 0, 1);
    Atomics.notify(waking, 0);
  };
  const stop = () => {
    Atomics.store(interrupt, 0, SIGINT);
    wake();
  };
  for (const [index, name] of PIPES.entries()) {
    const socket = new Socket({ fd: settings[name], readable: true, writable: false });
    socket.on("data", (chunk) => {
      const isFull = Atomics.add(waiting, index, chunk.length) + chunk.length > MAX_WAITING;
      if (isFull) socket.pause();
      port.postMessage([index, chunk]);
      if (name === "aside") Atomics.compareExchange(interrupt, 0, 0, SIGUSR1);
      wake();
    });
    port.on("message", (message) => {
      if (message.resume === index) socket.resume();
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
