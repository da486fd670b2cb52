// Takes from JavaScript what a session does not need, when Python is loaded and before its code runs.
//
// Python cannot reach JavaScript any more then (imports.cjs). This is for a fault in that: whoever gets hold of an object of JavaScript can
// replace no method that our code or Node's calls, and finds no way from it to the modules of Node.
"use strict";

/** Names that stay in the global object, beside the language itself. */
const GLOBALS = [
  "Buffer",
  "TextDecoder",
  "TextEncoder",
  "performance",
  "console",
  "setTimeout",
  "clearTimeout",
  "globalThis",
];
const LANGUAGE =
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError
  EvalError RangeError ReferenceError SyntaxError TypeError URIError JSON Math Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array
  Int16Array Uint32Array Int32Array Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set
  WeakMap WeakSet WeakRef Proxy Reflect FinalizationRegistry SharedArrayBuffer WebAssembly Iterator decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape unescape eval isFinite isNaN`.split(/\s+/);
/** Names that stay in `process`: Node's own code uses these. */
const OF_PROCESS = [
  "arch",
  "pid",
  "platform",
  "release",
  "version",
  "versions",
  "exitCode",
  "_exiting",
  "noDeprecation",
  "emitWarning",
  "constructor",
  "emit",
  "nextTick",
  "_tickCallback",
  "features",
  "config",
  "domain",
  "_events",
  "_eventsCount",
  "_maxListeners",
];
/** Objects have properties of their own with these names. Where a prototype is frozen, they can be set all the same. */
const OVERRIDDEN = ["constructor", "message", "name", "toLocaleString", "toString", "valueOf"];

/** `umask` is that of Python (folders.cjs). */
exports.harden = function harden({ umask }) {
  const frozen = new Set();
  for (const root of intrinsics()) freeze(root, frozen);
  cutProcess(umask);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!LANGUAGE.includes(name) && !GLOBALS.includes(name)) hide(globalThis, name, undefined);
  }
};

/** What no name leads to comes from syntax. */
function intrinsics() {
  const iterators = [[], "", new Map(), new Set(), "".matchAll(/./g)].map((each) => each[Symbol.iterator]());
  const functions = [function* () {}, async () => {}, async function* () {}];
  return [
    ...LANGUAGE.map((name) => globalThis[name]),
    ...iterators.map((each) => Object.getPrototypeOf(each)),
    ...functions.map((each) => Object.getPrototypeOf(each)),
    TextDecoder,
    TextEncoder,
    Buffer,
    performance.constructor,
  ].filter(isObject);
}

/** With the classes and prototypes that it leads to. Methods have nothing of their own that anybody uses, and are many. */
function freeze(value, frozen) {
  if (!isObject(value) || frozen.has(value) || value === globalThis) return;
  if (typeof value === "function" && !Object.hasOwn(value, "prototype") && value !== Function.prototype) return;
  frozen.add(value);
  freeze(Object.getPrototypeOf(value), frozen);
  for (const key of Reflect.ownKeys(value)) {
    const found = Object.getOwnPropertyDescriptor(value, key);
    for (const each of Object.values(found)) freeze(each, frozen);
    if (OVERRIDDEN.includes(key) && found.configurable && "value" in found) allowOverride(value, key, found);
  }
  Object.freeze(value);
}

function allowOverride(owner, key, { value, enumerable }) {
  const set = function set(own) {
    if (this === owner) throw new TypeError(`the property '${key}' is frozen`);
    Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
  };
  Object.defineProperty(owner, key, { get: () => value, set, enumerable, configurable: false });
}

/** Emscripten asks for a few things by the name `process`, which is another object from now on. */
function cutProcess(umask) {
  const real = process;
  const { version, platform, arch } = real;
  const user = real.getuid?.() ?? 0;
  const versions = Object.freeze({ node: real.versions.node });
  const names = [real, Object.getPrototypeOf(real)].flatMap((each) => Object.getOwnPropertyNames(each));
  hide(real, "emitWarning", () => {});
  hide(real, "noDeprecation", true);
  for (const name of names) if (!OF_PROCESS.includes(name)) hide(real, name, undefined);
  hide(globalThis, "process", Object.freeze({ version, versions, platform, arch, getuid: () => user, umask }));
}

function hide(owner, name, value) {
  try {
    Object.defineProperty(owner, name, { value, writable: false, configurable: false });
  } catch {
    // it was not configurable before
  }
}

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
