// What an interpreter of this machine consists of, by its own account: the program, the folders of its modules, its version.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { z } from "zod";
import { EnvironmentUnavailableError } from "../../../errors.ts";
import { diagnoseInterpreter, findInterpreter } from "../../local/interpreter.ts";

const run = promisify(execFile);
/** Preferred to one that a version manager has put first: every user can read it. */
const SYSTEM_PYTHON = "/usr/bin/python3";
const START_LIMIT_MS = 20_000;

const QUESTION = `
import json, sys
print(json.dumps({"executable": sys.executable, "version": "%d.%d" % sys.version_info[:2],
                  "prefixes": [sys.prefix, sys.base_prefix], "path": sys.path}))
`;

const folder = z.string().startsWith("/");
const answer = z.object({
  executable: folder,
  version: z.string().regex(/^3\.\d{1,3}$/),
  prefixes: z.array(folder).length(2),
  path: z.array(z.string()),
});

export interface PythonFiles {
  readonly executable: string;
  /** Such as `3.11`. */
  readonly version: string;
  /** Where it is installed; two of them for a virtual environment. */
  readonly prefixes: readonly string[];
  /** The folders of its modules, without those of one user. */
  readonly path: readonly string[];
}

/** `wanted`: as for sessions of `local`. Absent: the system's. Throws EnvironmentUnavailableError for one that cannot be used. */
export async function findPythonFiles(wanted?: string): Promise<PythonFiles> {
  const path = wanted === undefined && existsSync(SYSTEM_PYTHON) ? SYSTEM_PYTHON : await findInterpreter(wanted);
  const problem = await diagnoseInterpreter(path);
  if (problem !== undefined) throw forImage(problem.why, problem);
  try {
    const { stdout } = await run(path, ["-I", "-c", QUESTION], { timeout: START_LIMIT_MS, killSignal: "SIGKILL" });
    return answer.parse(JSON.parse(stdout));
  } catch (error) {
    throw forImage(`Python '${path}' does not say where its files are`, error);
  }
}

function forImage(why: string, cause: unknown): EnvironmentUnavailableError {
  const fix = "Name another interpreter, or set an image that the engine has";
  return new EnvironmentUnavailableError({ environment: "docker", why, fix }, { cause });
}
