// Finds the Python interpreter, and says why one cannot be used. A version manager's shim is a script that costs a tenth of a second at
// every start, so it is run once to find the interpreter behind it.

import { execFile } from "node:child_process";
import { accessSync, closeSync, constants, existsSync, openSync, readlinkSync, readSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { EnvironmentUnavailableError } from "../../errors.ts";
import { isCommandName } from "../../util/is-command-name.ts";
import { noTier, unavailable } from "./tier.ts";

const run = promisify(execFile);
const DEFAULT_COMMAND = "python3";
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const NOT_ON_PATH = "there is no such program on the PATH. A virtual environment is named by a path, such as ./venv";
const NOT_PYTHON = "it does not behave like Python";
const MAX_CHARACTERS = 300;
const START_LIMIT_MS = 20_000;
const NO_ANSWER = `it did not answer within ${START_LIMIT_MS / 1000} s`;
const OLDEST = [3, 9] as const;

/**
 * `wanted`: an interpreter, the folder of a virtual environment, or a command name. Absent or empty: `python3`. It runs on the host,
 * so a command name is never looked up in the current folder, which may be anybody's.
 */
export async function findInterpreter(wanted = ""): Promise<string> {
  const path = locate(wanted || DEFAULT_COMMAND);
  if (path === undefined)
    throw missing(wanted || DEFAULT_COMMAND, isCommandName(wanted) ? NOT_ON_PATH : whyNoProgram(wanted));
  if (!isScript(path)) return path;
  const answer = await ask(path, "import sys; print(sys.executable)");
  if ("why" in answer) throw unusable(path, answer);
  return answer.text.trim();
}

/** Whether there is anything to try where no interpreter was asked for. */
export function hasInterpreter(): boolean {
  return locate(DEFAULT_COMMAND) !== undefined;
}

/** Runs everywhere, also in Python 2. */
const FACTS = `
import sys
missing = []
for name in ("json", "ctypes", "socket", "select", "signal", "struct", "fcntl", "resource", "pickle"):
    try:
        __import__(name)
    except ImportError:
        missing.append(name)
print("python %d.%d without:%s" % (sys.version_info[0], sys.version_info[1], ",".join(missing)))
`;

/** Why an interpreter that could not start the fork server cannot be used. Undefined: it can be. */
export async function diagnoseInterpreter(path: string): Promise<EnvironmentUnavailableError | undefined> {
  const answer = await ask(path, FACTS);
  if ("why" in answer) return unusable(path, answer);
  const facts = /^python (?<major>\d+)\.(?<minor>\d+) without:(?<missing>[\w,]*)$/m.exec(answer.text)?.groups;
  if (facts === undefined) return missing(path, NOT_PYTHON);
  const [major, minor] = [Number(facts["major"]), Number(facts["minor"])];
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return missing(path, `it is Python ${major}.${minor}, and ${OLDEST.join(".")} or newer is needed`);
  const modules = facts["missing"] ?? "";
  if (modules === "") return undefined;
  const why = `its standard library lacks ${modules.replaceAll(",", ", ")}`;
  const fix = "Install all of it (on Debian and Ubuntu python3, not python3-minimal), or set RLM_PYTHON to another";
  return noTier(`Python '${path}' cannot be used: ${why}`, fix);
}

/** As `execFile` rejects. */
interface Failure {
  /** The exit code, or that of a system error. */
  readonly code?: number | string | null;
  readonly killed?: boolean;
  readonly stderr?: string;
}

/** `isCertain`: it is so at every start. Anything else may come from a machine that is busy or short of memory. */
interface NoAnswer {
  readonly why: string;
  readonly isCertain: boolean;
}

/** What the interpreter prints for this code, or why it did not run it. */
async function ask(path: string, code: string): Promise<{ readonly text: string } | NoAnswer> {
  try {
    const { stdout } = await run(path, ["-I", "-S", "-c", code], { timeout: START_LIMIT_MS, killSignal: "SIGKILL" });
    return { text: stdout };
  } catch (error) {
    const { code: status, killed, stderr = "" } = error as Failure;
    if (killed === true) return { why: NO_ANSWER, isCertain: false };
    if (status === "ENOENT") return { why: "the program that its first line names does not exist", isCertain: true };
    if (status === "EACCES") return { why: "this user may not start it", isCertain: true };
    const last = stderr.trim().split("\n").at(-1);
    if (last?.includes("import")) return { why: NOT_PYTHON, isCertain: true }; // it repeats the code
    if (last) return { why: `it does not start: ${last.slice(0, MAX_CHARACTERS)}`, isCertain: false };
    const why = typeof status === "number" ? `it ended with exit code ${status}` : "it does not start";
    return { why, isCertain: false };
  }
}

function locate(wanted: string): string | undefined {
  if (!isCommandName(wanted)) return [join(resolve(wanted), "bin", "python3"), resolve(wanted)].find(isProgram);
  const folders = (process.env["PATH"] ?? DEFAULT_PATH).split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, wanted)).find(isProgram);
}

/** Why a path is neither an interpreter nor a virtual environment. */
function whyNoProgram(wanted: string): string {
  const path = resolve(wanted);
  const inside = join(path, "bin", "python3");
  for (const link of [inside, path]) {
    const target = linkTarget(link);
    if (target !== undefined && !existsSync(link))
      return `${link} is a link to ${target}, which does not exist. Make the virtual environment again`;
  }
  if (!existsSync(path)) return "there is no such file";
  const status = statSync(path);
  if (status.isDirectory()) return "it is a folder without bin/python3, so it is no virtual environment";
  return status.isFile() ? "it is not executable: allow that with chmod +x" : "it is not a file";
}

/** Undefined: it is no link. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
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
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return false; // it may be started, but not read
  }
  try {
    const start = Buffer.alloc(2);
    readSync(fd, start, 0, 2, 0);
    return start.toString("latin1") === "#!";
  } finally {
    closeSync(fd);
  }
}

function missing(wanted: string, why: string): EnvironmentUnavailableError {
  return unusable(wanted, { why, isCertain: true });
}

function unusable(wanted: string, { why, isCertain }: NoAnswer): EnvironmentUnavailableError {
  const fix = "Install Python 3.9 or newer (on Debian and Ubuntu: apt-get install python3), or set RLM_PYTHON to one";
  return (isCertain ? noTier : unavailable)(`Python '${wanted}' cannot be used: ${why}`, fix);
}
