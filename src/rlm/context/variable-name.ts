// Names that a variable of the context can have.

import { RESERVED_NAMES } from "../../tools/run-names.ts";
import { isPythonName } from "../../util/python-name.ts";

/** Throws a RangeError for what cannot be a variable of the context. */
export function checkVariableName(name: string): void {
  if (!isPythonName(name))
    throw new RangeError(`Cannot name a variable of the context '${name.slice(0, 80)}': give a Python identifier`);
  if (RESERVED_NAMES.has(name))
    throw new RangeError(`Cannot name a variable of the context '${name}': runs have a function of this name`);
}
