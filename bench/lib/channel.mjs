// Pipes to and from a Python process, handled like a worker's in `src/environments/local/pipes.ts`: the other process creates
// them, this one opens them through /proc, reads with `onread` into one buffer and writes synchronously.

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

/** Returns a function that writes synchronously; the pipe must have space. */
export function writePipe(pid, fd) {
  const own = openSync(`/proc/${pid}/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  return (text) => writeSync(own, text);
}

/** The floor of a round trip: a Python process that echoes every byte, on the same core or another. */
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
