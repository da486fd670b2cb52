// Python in WebAssembly runs on the stack of its thread. Code that recurses deeply in C needs more of it than a process usually gets.

import { existsSync } from "node:fs";

const SHELL = "/bin/sh";
const STACK_KIB = 256 * 1024;
/** Beyond the stack of JavaScript: for Node itself. */
const OWN_KIB = 16 * 1024;
/** Without permission for a large stack the program runs with the usual one. It sees in its flags which it has (wasm/session.cjs). */
const SCRIPT = `node=$1; shift
if ulimit -s ${STACK_KIB + OWN_KIB} 2>/dev/null; then exec "$node" --stack-size=${STACK_KIB} "$@"; fi
exec "$node" "$@"`;

export interface Command {
  readonly executable: string;
  readonly arguments: readonly string[];
}

/** A command that becomes this one, with a large stack if the system allows it. */
export function withLargeStack({ executable, arguments: given }: Command): Command {
  if (!existsSync(SHELL)) return { executable, arguments: given };
  return { executable: SHELL, arguments: ["-c", SCRIPT, "sh", executable, ...given] };
}
