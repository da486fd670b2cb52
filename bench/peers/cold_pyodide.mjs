// Pyodide as its documentation starts it: no snapshot, no sandbox. Prints the result of `1+1`.
//
//   node cold_pyodide.mjs FOLDER

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
const pyodide = await loadPyodide({ indexURL: folder });
process.stdout.write(`${pyodide.runPython("1+1")}\n`);
