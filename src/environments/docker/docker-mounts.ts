// Mounts of a session in a container: the same path as on this machine, and a user who may use them.
//
// With a writable folder the session runs as its owner, so that what it writes belongs to them. Secrets are hidden by empty mounts. Nothing
// is mounted over what the container itself runs, so that no session can put a program there for the next one.

import { statSync } from "node:fs";
import { EnvironmentUnavailableError, REPLSecurityError } from "../../errors.ts";
import type { PreparedMount } from "../mounts.ts";
import type { CheckedMount } from "./held-mounts.ts";

const NOBODY = { uid: 65534, gid: 65534 };
/** Where an image has its programs and libraries. */
const PROGRAMS = ["/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr"];
/** What the fork server says first where the container does not have what was checked. */
const REFUSED = /failed to check what is mounted: (?<index>\d+) (?<why>.{1,300})/s;

export interface DockerMounts {
  readonly user: { readonly uid: number; readonly gid: number };
  /** In the words of the engine. */
  readonly mounts: readonly object[];
  /** For the fork server. */
  readonly visible: readonly PreparedMount[];
}

/** `own` are the folders that every container has for us. Throws REPLSecurityError where no user may use all mounts. */
export function toDockerMounts(
  mounts: readonly (CheckedMount & PreparedMount)[],
  own: readonly string[],
): DockerMounts {
  const owners = new Map<string, { readonly uid: number; readonly gid: number; readonly path: string }>();
  for (const { path, mode, owner } of mounts) {
    const taken = own.find((folder) => isIn(path, folder) || isIn(folder, path));
    if (taken !== undefined)
      throw refusal(path, `it overlaps '${taken}', which the runtime uses. Mount another folder`);
    const { uid, gid, mode: bits, isFolder } = owner;
    const everyone = isFolder ? 0o5 : 0o4;
    if (mode !== "rw" && (bits & everyone) === everyone) continue;
    if (uid === 0) {
      const why =
        mode === "rw"
          ? `it belongs to root, and a container may not write as root. Give it to an ordinary user: chown -R USER:GROUP ${path}`
          : `only root can read it. Let everyone read it: chmod -R o+rX ${path}`;
      throw refusal(path, why);
    }
    owners.set(`${uid}`, { uid, gid: gid === 0 ? NOBODY.gid : gid, path });
  }
  const [owner, other] = owners.values();
  if (owner !== undefined && other !== undefined) {
    const why = `it belongs to uid ${other.uid} and '${owner.path}' to uid ${owner.uid}; a session runs as one user`;
    throw refusal(other.path, `${why}. Mount folders of one owner`);
  }
  return { user: owner ?? NOBODY, mounts: mounts.flatMap(toEngineMounts), visible: mounts.map(toVisible) };
}

/** The mounts without optional ones that a session cannot use together with the others, and why these are left out. */
export function leaveOutUnusable<M extends CheckedMount & PreparedMount>(
  mounts: readonly M[],
  own: readonly string[],
): { readonly kept: readonly M[]; readonly notMounted: readonly string[] } {
  const kept = new Set(mounts.filter(({ isOptional }) => isOptional !== true));
  const notMounted: string[] = [];
  for (const mount of mounts.filter((each) => !kept.has(each))) {
    try {
      toDockerMounts([...kept, mount], own);
      kept.add(mount);
    } catch (error) {
      if (!(error instanceof REPLSecurityError)) throw error;
      notMounted.push(describeNotMounted(mount.path, error.message.slice(`Cannot mount '${mount.path}': `.length)));
    }
  }
  return { kept: mounts.filter((mount) => kept.has(mount)), notMounted };
}

/** A whole sentence. */
export function describeNotMounted(path: string, why: string): string {
  return `Sessions do not see ${path}: ${why}.`;
}

/** Throws REPLSecurityError for a mount over the interpreter of the image, and for one that could change its programs. */
export function checkPrograms(mounts: readonly PreparedMount[], python: string): void {
  for (const { path, mode } of mounts) {
    if (isIn(python, path)) throw refusal(path, `it would hide the image's Python, '${python}'. Mount another folder`);
    if (mode === "rw" && PROGRAMS.some((folder) => isIn(path, folder)))
      throw refusal(path, "it holds the image's programs. Mount it read-only");
  }
}

/** What a failure to open a sandbox means, where the container does not have what was checked. */
export function toRefusal(error: unknown, mounts: readonly PreparedMount[]): unknown {
  if (!(error instanceof EnvironmentUnavailableError)) return error;
  const { index, why } = REFUSED.exec(error.why)?.groups ?? {};
  const mount = mounts[Number(index)];
  return mount === undefined || why === undefined ? error : refusal(mount.path, why, { cause: error });
}

function toVisible({ path, mode, identity, hidden = [] }: CheckedMount & PreparedMount): PreparedMount {
  return { path, mode, expected: { identity, covered: outermost(hidden) } };
}

function toEngineMounts({ path, held, mode, hidden = [] }: CheckedMount & PreparedMount): object[] {
  const bind = {
    Type: "bind",
    Source: path,
    Target: path,
    ReadOnly: mode !== "rw",
    BindOptions: { Propagation: "rprivate" },
  };
  return [bind, ...outermost(hidden).map((name) => cover(path, held, Buffer.from(name, "latin1")))];
}

/** What is in a folder that is covered is covered with it. */
function outermost(hidden: readonly string[]): readonly string[] {
  return hidden.filter((name) => !hidden.some((other) => other !== name && isIn(name, other)));
}

/** An empty mount in place of a secret. */
function cover(folder: string, held: string, name: Buffer): object {
  const path = `${folder}/${name.toString()}`;
  if (!Buffer.from(name.toString()).equals(name)) {
    throw refusal(folder, "it holds a secret whose name is not UTF-8, which the engine cannot cover. Rename the file");
  }
  const isFolder = statSync(`${held}/${name.toString()}`, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder
    ? { Type: "tmpfs", Target: path, ReadOnly: true, TmpfsOptions: { SizeBytes: 4096, Mode: 0o555 } }
    : { Type: "bind", Source: "/dev/null", Target: path, ReadOnly: true };
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function refusal(target: string, why: string, options?: ErrorOptions): REPLSecurityError {
  return new REPLSecurityError({ action: "mount", target, environment: "docker", why }, options);
}
