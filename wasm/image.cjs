// The image of a guest: one file with everything that its process needs, read from an open descriptor.
//
// So a sandbox shows no path of the host for it, and whoever may not open the file can still be given it. The layout: the length of the
// index as 4 bytes, the index as JSON (name: [offset, length]), the parts, and the SHA-256 of all that, which the host checks.
"use strict";

const fs = require("node:fs");

exports.openImage = function openImage(fd) {
  const length = read(fd, 0, 4).readUInt32LE(0);
  const index = JSON.parse(read(fd, 4, length).toString());
  const start = 4 + length;
  const bytes = (name) => read(fd, start + index[name][0], index[name][1]);
  return {
    bytes,
    text: (name) => bytes(name).toString(),
    /** Fills the target from a place in a part. */
    readInto: (name, offset, target) => fill(fd, start + index[name][0] + offset, target),
  };
};

exports.writeImage = function writeImage(path, parts) {
  const index = {};
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    index[name] = [offset, content.length];
    offset += content.length;
  }
  const { createHash } = require("node:crypto"); // here, because it takes long to load, and sessions do not need it
  const head = Buffer.from(JSON.stringify(index));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const fd = fs.openSync(path, "wx", 0o644);
  const hash = createHash("sha256");
  try {
    for (const part of [length, head, ...Object.values(parts)]) {
      writeAll(fd, part);
      hash.update(part);
    }
    writeAll(fd, hash.digest());
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
};

/** An image that is being made, in memory. */
exports.imageOf = function imageOf(parts) {
  return {
    bytes: (name) => parts[name],
    text: (name) => parts[name].toString(),
    readInto: (name, offset, target) => void target.set(parts[name].subarray(offset, offset + target.length)),
  };
};

function read(fd, position, length) {
  const buffer = Buffer.allocUnsafeSlow(length);
  fill(fd, position, buffer);
  return buffer;
}

function fill(fd, position, target) {
  let at = 0;
  while (at < target.length) {
    const count = fs.readSync(fd, target, at, target.length - at, position + at);
    if (count === 0) throw new Error("the image is incomplete");
    at += count;
  }
}

function writeAll(fd, part) {
  for (let at = 0; at < part.length;) at += fs.writeSync(fd, part, at);
}
