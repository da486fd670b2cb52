// Mounts of a session in a container: the same path as on this machine, and a user who may use them.
//
// With a writable folder the session runs as its owner, so that what it writes belongs to them. Secrets are covered by nothing.

import { statSync } from "node:fs";
import { REPLSecurityError } from "../../errors.ts";
import type { PreparedMount } from "../mounts.ts";
import { BOX, CODE, MEETING } from "./paths.ts";

const NOBODY = { uid: 65534, gid: 65534 };

export interface DockerMounts {
  readonly user: { readonly uid: number; readonly gid: number };
  /** In the words of the engine. */
  readonly mounts: readonly object[];
}

/** Throws REPLSecurityError where no user may use all of them. */
export function toDockerMounts(mounts: readonly PreparedMount[]): DockerMounts {
  const owners = new Map<string, { readonly uid: number; readonly gid: number; readonly path: string }>();
  for (const { path, mode } of mounts) {
    const own = [BOX, CODE, MEETING].find((folder) => `${path}/`.startsWith(`${folder}/`));
    if (own !== undefined) throw refusal(path, `the container has a ${own} of its own`);
    const { uid, gid, mode: bits, isFolder } = statOf(path);
    const everyone = isFolder ? 0o5 : 0o4;
    if (mode !== "rw" && (bits & everyone) === everyone) continue;
    if (uid === 0) {
      const why =
        mode === "rw"
          ? `it belongs to root, and a container may not write as root. Give it to an ordinary user: chown -R USER ${path}`
          : `only root can read it. Let everyone read it: chmod -R o+rX ${path}`;
      throw refusal(path, why);
    }
    owners.set(`${uid}`, { uid, gid, path });
  }
  const [owner, other] = owners.values();
  if (other !== undefined)
    throw refusal(other.path, "the mounted folders belong to different users, and a session has one");
  return { user: owner ?? NOBODY, mounts: mounts.flatMap(toEngineMounts) };
}

function toEngineMounts({ path, mode, hidden = [] }: PreparedMount): object[] {
  const bind = {
    Type: "bind",
    Source: path,
    Target: path,
    ReadOnly: mode !== "rw",
    BindOptions: { Propagation: "rprivate" },
  };
  return [bind, ...hidden.map((name) => cover(path, Buffer.from(name, "latin1")))];
}

/** Nothing in place of a secret. */
function cover(folder: string, name: Buffer): object {
  const path = `${folder}/${name.toString()}`;
  if (!Buffer.from(name.toString()).equals(name)) {
    throw refusal(folder, "it holds a secret whose name is not UTF-8, which the engine cannot cover. Rename the file");
  }
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder
    ? { Type: "tmpfs", Target: path, ReadOnly: true, TmpfsOptions: { SizeBytes: 4096, Mode: 0o555 } }
    : { Type: "bind", Source: "/dev/null", Target: path, ReadOnly: true };
}

function statOf(path: string): { uid: number; gid: number; mode: number; isFolder: boolean } {
  const status = statSync(path);
  return { uid: status.uid, gid: status.gid, mode: status.mode, isFolder: status.isDirectory() };
}

function refusal(target: string, why: string): REPLSecurityError {
  return new REPLSecurityError({ action: "mount", target, environment: "docker", why });
}
