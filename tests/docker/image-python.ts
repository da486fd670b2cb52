// The Python that the image of the test engine is built from: the system's, without its packages, because an image of those takes half a
// minute. It has the same path on this machine and in the image.

import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const SYSTEM = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const IN_PROJECT = "node_modules/.cache/rlm/docker-python";
/** For a clone in /tmp, which a container covers with a folder of its own. */
const ELSEWHERE = `/var/tmp/rlm-docker-python-${process.getuid?.()}`;

/** The interpreter. Creates it if there is none yet. */
export function imagePython(project = process.cwd()): string {
  const folder = folderFor(project);
  const python = join(folder, "bin/python3");
  if (folder === ELSEWHERE) requireOwn(folder);
  if (!existsSync(python)) execFileSync(SYSTEM, ["-m", "venv", "--without-pip", folder]);
  return python;
}

/** Its folder of packages. */
export function sitePackages(project = process.cwd()): string {
  const folder = join(folderFor(project), "lib");
  const [version = ""] = readdirSync(folder).filter((name) => name.startsWith("python3"));
  return join(folder, version, "site-packages");
}

/** The virtual environment. Containers cover `/tmp`, `/box` and `/dev`. */
export function folderFor(project: string): string {
  return /^\/(?:tmp|box|dev)\//.test(project) ? ELSEWHERE : join(project, IN_PROJECT);
}

/** Others may write in /var/tmp, and these tests run as root. */
function requireOwn(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const status = lstatSync(folder);
  if (!status.isDirectory() || status.uid !== process.getuid?.() || (status.mode & 0o022) !== 0)
    throw new Error(`'${folder}' is not a folder that only this user can write: remove it`);
}
