// Checks the names of context variables.

import { RESERVED_NAMES } from "../../tools/run-names.ts";
import { isPythonName } from "../../util/python-name.ts";

/** Throws a RangeError for a name that is not a Python identifier, or is reserved. */
export function checkVariableName(name: string): void {
  if (!isPythonName(name))
    throw new RangeError(`Cannot name a variable of the context '${name.slice(0, 80)}': give a Python identifier`);
  if (RESERVED_NAMES.has(name))
    throw new RangeError(`Cannot name a variable of the context '${name}': runs have a function of this name`);
}
