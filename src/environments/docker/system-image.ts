// An image built from this machine's own Python, for an engine that can reach no registry: the interpreter and its modules, a shell and
// common programs, and the libraries that they need, as a tar archive that the engine imports.
//
// The archive is created while it is read, so it takes no disk. The same files give the same bytes. It holds nothing that only some users
// of this machine may read, nothing of home folders but an interpreter that is there, and of /etc only certificates, links and the time
// zone.

import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { EnvironmentUnavailableError } from "../../errors.ts";
import { FileTree, TreeTooLarge, type ImageEntry } from "./image/file-tree.ts";
import { addLibraries } from "./image/libraries.ts";
import { PROGRAMS, PROGRAM_FOLDERS } from "./image/programs.ts";
import { findPythonFiles, type PythonFiles } from "./image/python-files.ts";
import { tarEnd, tarHeader, tarPadding } from "./image/tar.ts";

export const SYSTEM_IMAGE = "rlm-runtime/system-python";
export const SYSTEM_IMAGE_LABEL = { name: "dev.rlm-runtime.kind", value: "system-python" };

const MAX_BYTES = 2 * 2 ** 30;
const MAX_ENTRIES = 200_000;
const CHUNK_BYTES = 1 << 20;
const STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Certificates, time zones, types of files, and what Debian's matplotlib has outside of its own folder. */
const SHARED_FOLDERS = [
  "/etc/ssl/certs",
  "/usr/share/zoneinfo",
  "/usr/share/matplotlib",
  "/usr/share/fonts/truetype/dejavu",
];
const SHARED_FILES = [
  "/usr/lib/ssl/certs",
  "/usr/lib/ssl/cert.pem",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/matplotlibrc",
];
/** Links to folders of /usr on systems that merged them. */
const TOP_FOLDERS = ["/bin", "/sbin", "/lib", "/lib64"];
/** Sessions have folders of their own there. */
const COVERED = /^\/(?:tmp|box|dev)\//;
const USERS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUPS = "root:x:0:\nnogroup:x:65534:\n";

export interface SystemImageOptions {
  /** The interpreter, or the folder of a virtual environment. Default: the system's. */
  readonly python?: string | undefined;
  /** Default: 2 GiB. */
  readonly maxBytes?: number;
}

export interface SystemImage {
  /** Version of the interpreter, such as `3.11`; also the tag. */
  readonly version: string;
  readonly repository: string;
  readonly executable: string;
  /** Size of all files, without headers. */
  readonly bytes: number;
  readonly files: number;
  /** Instructions of a Dockerfile, to be applied by the import. */
  readonly changes: readonly string[];
  /** The archive, created anew by each call. Throws if a file has changed since. */
  readonly archive: () => AsyncGenerator<Buffer>;
}

/** Finds out which files belong to it. Throws EnvironmentUnavailableError if there is no usable Python, or too much of it. */
export async function createSystemImage({
  python,
  maxBytes = MAX_BYTES,
}: SystemImageOptions = {}): Promise<SystemImage> {
  const found = await findPythonFiles(python);
  const covered = [found.executable, ...found.prefixes].find((path) => COVERED.test(path));
  if (covered !== undefined) throw isCovered(covered);
  const tree = new FileTree({ maxBytes, maxEntries: MAX_ENTRIES, allow: found.prefixes.filter(isOwnFolder) });
  try {
    fill(tree, found);
  } catch (error) {
    if (error instanceof TreeTooLarge) throw tooLarge(found, maxBytes, error);
    throw error;
  }
  const entries = tree.entries();
  return {
    version: found.version,
    repository: SYSTEM_IMAGE,
    executable: found.executable,
    bytes: tree.bytes,
    files: entries.length,
    changes: [
      `ENV PATH=${pathFor(found.executable)}`,
      `LABEL ${SYSTEM_IMAGE_LABEL.name}=${SYSTEM_IMAGE_LABEL.value}`,
      'CMD ["python3"]',
    ],
    archive: () => archive(entries),
  };
}

function fill(tree: FileTree, { executable, version, prefixes, path }: PythonFiles): void {
  for (const folder of TOP_FOLDERS) tree.add(folder);
  const bin = dirname(executable);
  for (const name of [executable, `${bin}/python3`, `${bin}/python${version}`]) tree.add(name);
  for (const prefix of prefixes) tree.add(`${prefix}/pyvenv.cfg`);
  for (const folder of path) if (folder.startsWith("/")) tree.addAll(folder);
  for (const name of PROGRAMS) for (const folder of ["/bin", "/usr/bin"]) tree.add(`${folder}/${name}`);
  for (const folder of [...PROGRAM_FOLDERS, ...SHARED_FOLDERS]) tree.addAll(folder);
  for (const file of SHARED_FILES) tree.add(file);
  addLibraries(tree, executable);
  tree.addText("/etc/passwd", USERS);
  tree.addText("/etc/group", GROUPS);
  for (const folder of ["/dev", "/proc", "/sys", "/run", "/var"]) tree.addFolder(folder, 0o755);
  tree.addFolder("/root", 0o700);
  for (const folder of ["/tmp", "/var/tmp"]) tree.addFolder(folder, 0o1777);
}

/** Whether a prefix holds one interpreter, and is not a folder of the system or of a user with much else in it. */
function isOwnFolder(prefix: string): boolean {
  return prefix.split("/").filter(Boolean).length > 2;
}

function pathFor(executable: string): string {
  const folder = dirname(executable);
  return STANDARD_PATH.split(":").includes(folder) ? STANDARD_PATH : `${folder}:${STANDARD_PATH}`;
}

async function* archive(entries: readonly ImageEntry[]): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    yield tarHeader(entry);
    if (entry.kind !== "file") continue;
    if (typeof entry.source === "string") yield* contents(entry.source, entry.size);
    else if (entry.source !== undefined) yield entry.source;
    yield tarPadding(entry.size);
  }
  yield tarEnd();
}

/** Exactly as many bytes as the header says. */
async function* contents(path: string, size: number): AsyncGenerator<Buffer> {
  const file = await open(path, "r");
  try {
    let left = size;
    while (left > 0) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(left, CHUNK_BYTES)));
      if (bytesRead === 0) throw new Error(`Cannot build the image: '${path}' has changed`);
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function isCovered(path: string): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError({
    environment: "docker",
    why: `'${path}' is in a folder that containers cover with one of their own`,
    fix: "Use a Python elsewhere, for example a virtual environment in /opt",
  });
}

function tooLarge({ executable, path }: PythonFiles, maxBytes: number, cause: Error): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError(
    {
      environment: "docker",
      why: `the modules of Python '${executable}' in ${path.join(", ")} exceed ${maxBytes} bytes or ${MAX_ENTRIES} files`,
      fix: "Name a virtual environment with the modules that are needed, or set an image that the engine has",
    },
    { cause },
  );
}
