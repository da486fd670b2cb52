// A pipe from and to a Python process, held in the way `src/environments/local/pipes.ts` holds a worker's: the other
// process makes it, this one opens it through /proc, reads with `onread` into one buffer and writes without the loop.

import { constants, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { lineReader, onCores, peer, PYTHON, start, within } from "./processes.mjs";

const buffer = Buffer.allocUnsafeSlow(64 * 1024);

export function readPipe(pid, fd, onChunk) {
  const own = openSync(`/proc/${pid}/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  const onread = {
    buffer,
    callback: (length) => {
      onChunk(buffer.subarray(0, length));
      return true;
    },
  };
  return new Socket({ fd: own, readable: true, writable: false, onread });
}

/** A function that writes at once; the pipe must have room. */
export function writePipe(pid, fd) {
  const own = openSync(`/proc/${pid}/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  return (text) => writeSync(own, text);
}

/** The floor of a round trip: a Python process that sends every byte back. On this process's core, or on another. */
export async function openEcho({ core } = {}) {
  const plain = [PYTHON, ["-I", "-S", peer("echo.py")]];
  const [command, args] = core === undefined ? plain : onCores(String(core), ...plain);
  const child = start(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [down, up] = JSON.parse(await within(5000, "starting the echo", lineReader(child.stdout)()));
  let resolve;
  readPipe(child.pid, up, () => resolve());
  const write = writePipe(child.pid, down);
  child.stdin.write("taken\n");
  const echo = (line) => {
    const answer = new Promise((done) => {
      resolve = done;
    });
    write(line);
    return answer;
  };
  return { echo, pid: child.pid };
}
