// The parts of the context of a run. Each check throws a TypeError or RangeError.

import { isWellFormed } from "../../protocol/worker/is-well-formed.ts";
import { isPythonName } from "../../util/python-name.ts";
import { checkContent } from "../content.ts";
import { checkOptions } from "./check-options.ts";

/** Of a variable in a context that has several. */
export function checkContextName(name: string): void {
  if (!isPythonName(name))
    throw new RangeError(`Cannot name a variable of the context '${name.slice(0, 80)}': give a Python identifier`);
}

export function checkContextText(variable: string, text: unknown, as: unknown): void {
  checkContent(`the context '${variable}'`, text);
  if (typeof text === "string" && !isWellFormed(text))
    throw new TypeError(`Cannot use the context '${variable}': it contains half of a character`);
  if (as !== undefined && as !== "text" && as !== "json")
    throw new TypeError(`Cannot use the context '${variable}': as must be 'text' or 'json'`);
}

/** Each has a name of its own, and one of `sources`. `folder`: the name of the folder that they are in. */
export function checkContextFiles(files: readonly unknown[], sources: readonly string[], folder: unknown): void {
  if (folder !== undefined && typeof folder !== "string")
    throw new TypeError("Cannot use the folder of a context: its name must be a string");
  const names = new Set<string>();
  for (const file of files) {
    checkOptions("a file of the context", file ?? null, ["name", ...sources]);
    const { name, ...given } = file as Readonly<Record<string, unknown>>;
    if (typeof name !== "string") throw new TypeError("Cannot use a file of the context: its name must be a string");
    if (Object.values(given).filter((source) => source !== undefined).length !== 1)
      throw new TypeError(`Cannot use the file '${name}' of the context: give its ${sources.join(" or its ")}`);
    if (names.has(name)) throw new RangeError(`Cannot use the context: two files are named '${name.slice(0, 80)}'`);
    names.add(name);
  }
}
