// The pipes and the clock of the session, as devices in the file system that Python sees.
//
// Python has no other way out. It opens them by name, as any code in the session may: whatever it writes, the host parses as hostile.
// Waiting is done here, so that an interrupt ends it.
"use strict";

const fs = require("node:fs");
const { receiveMessageOnPort } = require("node:worker_threads");

const FOLDER = "/dev/rlm";
/** The first number of a device; Emscripten and Pyodide use lower ones. */
const MAJOR = 200;
/** As Emscripten numbers them. */
const EINTR = 27;
const EINVAL = 28;
const EIO = 29;
const MAX_WAIT_MS = 2 ** 31 - 1;
const RETRIES_AT_ONCE = 20;
const FRAME_HEAD = 5;
const TIME_BYTES = 8;
/** The numbers of the pipes in `waiting`, and how much of a pipe may wait before it is not read any more (readers.cjs). */
const COMMANDS = 0;
const ASIDE = 1;
const MAX_WAITING = 4 * 1024 * 1024;

exports.attachDevices = function attachDevices(FS, { settings, interrupt, waking, waiting, port, exit, die }) {
  const resourceUsage = process.resourceUsage.bind(process); // `process` is cut down later
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const pause = (ms) => Atomics.wait(nothing, 0, 0, ms);
  const interrupted = () => new FS.ErrnoError(EINTR);
  const queues = [[], []];

  /** Counts writes to stdout and stderr. */
  const writes = new Uint32Array(1);
  const readWrites = (_stream, buffer, offset, length) => {
    const count = Math.min(length, writes.byteLength);
    buffer.set(new Uint8Array(writes.buffer, 0, count), offset);
    return count;
  };
  const counted = (write) => (stream, buffer, offset, length) => {
    writes[0] += 1;
    return write(stream, buffer, offset, length);
  };

  /** All streams in one pipe, in order: the number of the stream, the length, and the bytes. */
  const writeFrames = (number) => {
    const writeEvents = writeTo(settings.events, false);
    return (_stream, buffer, offset, length) => {
      const frame = Buffer.allocUnsafe(FRAME_HEAD + length);
      frame.writeUInt8(number, 0);
      frame.writeUInt32LE(length, 1);
      frame.set(buffer.subarray(offset, offset + length), FRAME_HEAD);
      writeEvents(null, frame, 0, frame.length);
      return length;
    };
  };

  /** Writes everything. `isBreakable`: an interrupt ends it if nothing is written yet. */
  const writeTo = (fd, isBreakable) => (_stream, buffer, offset, length) => {
    // A copy: the memory of Python cannot be given to a system call while it may grow.
    const data = Buffer.from(buffer.buffer, buffer.byteOffset + offset, length);
    let at = 0;
    for (let failures = 0; at < length;) {
      try {
        at += fs.writeSync(fd, data, at, length - at);
        failures = 0;
        if (isBreakable && at > 0 && at < length) return at;
      } catch (error) {
        if (error.code !== "EAGAIN") throw new FS.ErrnoError(EIO);
        if (isBreakable && Atomics.load(interrupt, 0) !== 0) {
          if (at > 0) return at;
          throw interrupted();
        }
        failures += 1;
        pause(failures < RETRIES_AT_ONCE ? 0.05 : 1);
      }
    }
    return length;
  };

  /** Moves what the main thread has sent into the queues. */
  const receive = () => {
    for (let message; (message = receiveMessageOnPort(port)?.message) !== undefined;)
      queues[message[0]].push(message[1]);
  };
  /** What has come on a pipe, without waiting. The reading thread gets a message only if it has paused: each one wakes it up. */
  const take = (pipe, buffer, offset, length) => {
    const queue = queues[pipe];
    let at = 0;
    while (at < length && queue.length > 0) {
      const chunk = queue[0];
      const count = Math.min(chunk.length, length - at);
      buffer.set(count === chunk.length ? chunk : chunk.subarray(0, count), offset + at);
      at += count;
      if (count < chunk.length) queue[0] = chunk.subarray(count);
      else queue.shift();
    }
    const before = Atomics.sub(waiting, pipe, at);
    if (before > MAX_WAITING && before - at <= MAX_WAITING) port.postMessage({ resume: pipe });
    return at;
  };

  const readCommands = (_stream, buffer, offset, length) => {
    for (;;) {
      const now = Atomics.load(waking, 0);
      receive();
      const count = take(COMMANDS, buffer, offset, length);
      if (count > 0) return count;
      if (Atomics.load(interrupt, 0) !== 0) throw interrupted();
      Atomics.wait(waking, 0, now);
    }
  };

  const readAside = (_stream, buffer, offset, length) => {
    receive();
    return take(ASIDE, buffer, offset, length);
  };

  let seen = 0;
  /** Waits until the time that is written, or until something has come: an interrupt, or a message since the last wait. */
  const wait = (_stream, buffer, offset, length) => {
    if (length !== TIME_BYTES) throw new FS.ErrnoError(EINVAL);
    const until = new DataView(buffer.buffer, buffer.byteOffset + offset, length).getFloat64(0, true);
    for (;;) {
      if (Atomics.load(interrupt, 0) !== 0) throw interrupted();
      const now = Atomics.load(waking, 0);
      if (now !== seen) {
        seen = now;
        return length;
      }
      const ms = until - performance.now();
      if (ms <= 0) return length;
      Atomics.wait(waking, 0, now, Math.min(ms, MAX_WAIT_MS));
    }
  };

  /** Usage of this process: the most memory that it ever had, and the time of the processor, in microseconds. */
  const readUsage = (_stream, buffer, offset, length) => {
    const { maxRSS, userCPUTime, systemCPUTime } = resourceUsage();
    const text = Buffer.from(`${maxRSS * 1024} ${userCPUTime + systemCPUTime}`);
    buffer.set(text.subarray(0, length), offset);
    return Math.min(text.length, length);
  };

  const leave = (_stream, buffer, offset) => exit(buffer[offset]);
  const fail = (_stream, buffer, offset, length) =>
    die(Buffer.from(buffer.subarray(offset, offset + length)).toString());

  const tick = (_stream, buffer, offset, length) => {
    port.postMessage({ tick: buffer[offset] !== 0 });
    return length;
  };

  FS.mkdirTree(FOLDER);
  const devices = {
    commands: { read: readCommands },
    aside: { read: readAside },
    events: { write: settings.isSeatBelt ? writeFrames(0) : writeTo(settings.events, false) },
    stdout: { write: counted(settings.isSeatBelt ? writeFrames(1) : writeTo(1, true)) },
    stderr: { write: counted(settings.isSeatBelt ? writeFrames(2) : writeTo(2, true)) },
    wait: { write: wait },
    usage: { read: readUsage },
    writes: { read: readWrites },
    tick: { write: tick },
    exit: { write: leave },
    die: { write: fail },
  };
  Object.entries(devices).forEach(([name, operations], index) => {
    const device = FS.makedev(MAJOR, index);
    FS.registerDevice(device, { open: (stream) => (stream.seekable = false), ...operations });
    FS.mkdev(`${FOLDER}/${name}`, 0o600, device);
  });
  for (const [fd, name] of [
    [0, "null"],
    [1, "rlm/stdout"],
    [2, "rlm/stderr"],
  ]) {
    FS.closeStream(fd); // without the operations of its device, which is Pyodide's
    FS.open(`/dev/${name}`, fd === 0 ? 0 : 1);
  }
  // Pyodide's own lead to the terminal of the process.
  for (const name of ["stdin", "stdout", "stderr", "tty", "tty1"]) FS.unlink(`/dev/${name}`);
  for (const [name, target] of [
    ["stdin", "null"],
    ["stdout", "rlm/stdout"],
    ["stderr", "rlm/stderr"],
  ]) {
    FS.symlink(`/dev/${target}`, `/dev/${name}`);
  }
};
