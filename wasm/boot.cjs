// Starts a guest: `node FLAGS -e BOOT SETTINGS`, with the image on an open descriptor. Kept small, because it is an argument.
"use strict";
const vm = require("node:vm");
const fs = require("node:fs");
const settings = JSON.parse(process.argv[1]);
const length = Buffer.alloc(4);
fs.readSync(settings.image, length, 0, 4, 0);
const head = Buffer.alloc(length.readUInt32LE(0));
fs.readSync(settings.image, head, 0, head.length, 4);
const [offset, size] = JSON.parse(head.toString())["image.cjs"];
const code = Buffer.alloc(size);
fs.readSync(settings.image, code, 0, size, 4 + head.length + offset);
const load = (source, filename) => {
  const module = { exports: {} };
  const text = `(function (module, exports, require) {${source}\n})`;
  new vm.Script(text, { filename }).runInThisContext()(module, module.exports, require);
  return module.exports;
};
const image = load(code.toString(), "image.cjs").openImage(settings.image);
const part = (name) => load(image.text(name), name);
part("main.cjs").start(image, settings, part);
