// What is left of JavaScript in the Python thread: a script of Node is hardened, and tries what such code would try.

import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ATTEMPTS: Readonly<Record<string, string>> = {
  "modules of Node": "process.getBuiltinModule('fs')",
  "modules of Node from the real process": "real.getBuiltinModule('fs')",
  bindings: "real.binding('fs')",
  "bindings that are linked": "real._linkedBinding('fs')",
  addons: "real.dlopen({}, 'x')",
  signals: "real.kill(real.pid, 0)",
  reports: "real.report.writeReport('x')",
  "the main module": "real.mainModule.require('fs')",
  require: "require('fs')",
  "workers of the web": "new Worker('x')",
  "a getter that everything inherits": "Object.prototype.__defineGetter__('noDeprecation', () => 1)",
  "a method of typed arrays": "'use strict'; Object.getPrototypeOf(Uint8Array.prototype).set = () => {}",
  "a method of arrays": "'use strict'; Array.prototype.push = () => {}",
  "a method of promises": "'use strict'; Promise.prototype.then = () => {}",
  "a method of functions": "'use strict'; Function.prototype.call = () => {}",
  "an iterator": "'use strict'; [][Symbol.iterator]().__proto__.next = () => {}",
  "the species of arrays": "Object.defineProperty(Array, Symbol.species, { value: null })",
  "stack traces": "'use strict'; Error.prepareStackTrace = () => {}",
  "the class of buffers": "'use strict'; Buffer.from = () => {}",
  "a setter in place of a frozen property": "Error.prototype.__lookupSetter__('name').call(Error.prototype, 'x')",
};

test("JavaScript has no way to the modules of Node, and its own objects cannot be changed", () => {
  const script = `
const attempts = ${JSON.stringify(ATTEMPTS)};
const { Script } = require("node:vm");
const { writeSync, readFileSync } = require("node:fs");
const real = process; // the scripts see it
const leave = real.reallyExit.bind(real);
const scripts = Object.entries(attempts).map(([name, text]) => [name, new Script(text)]);
require(${JSON.stringify(resolve("wasm/hardening.cjs"))}).harden({ umask: process.umask });
real.emitWarning("x");
const error = new TypeError("own"); error.name = "Own"; error.message = "changed";
const succeeded = scripts.filter(([, script]) => { try { script.runInThisContext(); return true; } catch { return false; } });
writeSync(1, JSON.stringify({ succeeded: succeeded.map(([name]) => name), error: String(error), size: readFileSync("/dev/null").length }));
leave(0);`;
  const flags = ["--disallow-code-generation-from-strings"];
  const found: unknown = JSON.parse(execFileSync(process.execPath, [...flags, "-e", script], { encoding: "utf8" }));
  expect(found).toEqual({ succeeded: [], error: "Own: changed", size: 0 });
});
