// The memory of Python as an image keeps it: without the pages that hold only zeros, which are almost half of it. A session reads the
// others into its own memory, without a copy in between.
"use strict";

const PAGE_BYTES = 16384;

/** The parts of an image for what Pyodide returns as a snapshot. */
exports.toParts = function toParts(snapshot) {
  const start = new Uint32Array(snapshot.buffer, snapshot.byteOffset, 2)[1]; // of the memory, after Pyodide's own header
  const memory = snapshot.subarray(start);
  const zeros = Buffer.alloc(PAGE_BYTES);
  const runs = [];
  for (let at = 0; at < memory.length; at += PAGE_BYTES) {
    const page = memory.subarray(at, at + PAGE_BYTES);
    if (zeros.compare(page, 0, page.length, 0, page.length) === 0) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[1] === at) last[1] += page.length;
    else runs.push([at, page.length]);
  }
  return {
    "snapshot.json": Buffer.from(JSON.stringify({ length: snapshot.length, runs })),
    "snapshot.head": Buffer.from(snapshot.subarray(0, start)),
    "snapshot.memory": Buffer.concat(runs.map(([at, length]) => memory.subarray(at, at + length))),
  };
};

/** `head` is for `loadPyodide`, which asks for its length and its first bytes only; `restore` fills the memory. */
exports.openSnapshot = function openSnapshot(image) {
  const { length, runs } = JSON.parse(image.text("snapshot.json"));
  const head = Uint8Array.from(image.bytes("snapshot.head"));
  Object.defineProperty(head, "length", { value: length });
  const restore = (memory) => {
    let at = 0;
    for (const [target, count] of runs) {
      image.readInto("snapshot.memory", at, memory.subarray(target, target + count));
      at += count;
    }
  };
  return { head, restore };
};
