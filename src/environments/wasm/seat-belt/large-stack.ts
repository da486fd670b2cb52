// Python in WebAssembly runs on the stack of its thread. Code that recurses deeply in C needs more of it than a process usually gets.

import { existsSync } from "node:fs";

const SHELL = "/bin/sh";
/** As the flags of Node say (guest-image.ts), and more for Node itself. */
const STACK_KIB = (256 + 16) * 1024;
/** The last argument of a process without a large stack: Python recurses less there (wasm/session.cjs). */
const SMALL_STACK = "small-stack";
const SCRIPT = `ulimit -s ${STACK_KIB} 2>/dev/null && exec "$@"; exec "$@" ${SMALL_STACK}`;

export interface Command {
  readonly executable: string;
  readonly arguments: readonly string[];
}

/** A command that becomes this one, with a large stack if the system allows it. */
export function withLargeStack({ executable, arguments: given }: Command): Command {
  if (!existsSync(SHELL)) return { executable, arguments: [...given, SMALL_STACK] };
  return { executable: SHELL, arguments: ["-c", SCRIPT, "sh", executable, ...given] };
}
