// The thread that reads the pipes, where Python has the main thread.
"use strict";

const { Script } = require("node:vm");
const { workerData } = require("node:worker_threads");

const module_ = { exports: {} };
const text = `(function (module, exports, require) {${workerData.codes.readers}\n})`;
new Script(text, { filename: "readers.cjs" }).runInThisContext()(module_, module_.exports, require);
module_.exports.readPipes(workerData);
