// Finds the Python interpreter. A version manager's shim is a script that costs a tenth of a second at every start, so it
// is run once to find the interpreter behind it.

import { execFile } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { EnvironmentUnavailableError } from "../../errors.ts";
import { isCommandName } from "../../util/is-command-name.ts";
import { unavailable } from "./tier.ts";

const run = promisify(execFile);
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const NOT_ON_PATH = "there is no such program on the PATH. A virtual environment is named by a path, such as ./venv";

/**
 * `wanted`: an interpreter, the folder of a virtual environment, or a command name. Absent or empty: `python3`. It runs on the host,
 * so a command name is never looked up in the current folder, which may be anybody's.
 */
export async function findInterpreter(wanted = ""): Promise<string> {
  const path = locate(wanted || "python3");
  if (path === undefined)
    throw missing(wanted || "python3", isCommandName(wanted) ? NOT_ON_PATH : "there is no such program");
  if (!isScript(path)) return path;
  try {
    const { stdout } = await run(path, ["-I", "-S", "-c", "import sys; print(sys.executable)"], { timeout: 20_000 });
    return stdout.trim();
  } catch (error) {
    throw missing(path, (error as Error).message.split("\n").at(-1) ?? "it failed");
  }
}

function locate(wanted: string): string | undefined {
  if (!isCommandName(wanted)) return [join(resolve(wanted), "bin", "python3"), resolve(wanted)].find(isProgram);
  const folders = (process.env["PATH"] ?? DEFAULT_PATH).split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, wanted)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isScript(path: string): boolean {
  const fd = openSync(path, "r");
  try {
    const start = Buffer.alloc(2);
    readSync(fd, start, 0, 2, 0);
    return start.toString("latin1") === "#!";
  } finally {
    closeSync(fd);
  }
}

function missing(wanted: string, why: string): EnvironmentUnavailableError {
  const fix = "Install Python 3.9 or newer (on Debian and Ubuntu: apt-get install python3), or set RLM_PYTHON to one";
  return unavailable(`Python '${wanted}' cannot be used: ${why}`, fix);
}
