// Mounts of a session, held open from the time they are checked until the container is known to have them.
//
// The engine resolves a path again when it makes the mount, as root. Whoever may write to a folder above it can put a link there meanwhile. So
// the fork server in the container compares what it has with the device and the inode of what is held here, before code of a session runs.

import { closeSync, constants, openSync, readlinkSync, statSync } from "node:fs";
import { REPLSecurityError } from "../../errors.ts";
import type { Mount } from "../../api/local.ts";

/** Node has no name for it. It needs no permission to read. */
const O_PATH = 0o10_000_000;

export interface Owned {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
  readonly isFolder: boolean;
}

export interface CheckedMount extends Mount {
  /** A path to it that nothing can replace, until the mounts are closed. */
  readonly held: string;
  /** Its device and inode. */
  readonly identity: string;
  readonly owner: Owned;
}

export interface HeldMounts extends Disposable {
  readonly mounts: readonly CheckedMount[];
}

/** For mounts that have been resolved. Throws REPLSecurityError for one that has been replaced since. */
export function holdMounts(mounts: readonly Mount[]): HeldMounts {
  const opened: number[] = [];
  const close = (): void => {
    for (const fd of opened.splice(0)) closeSync(fd);
  };
  try {
    return { mounts: mounts.map((mount) => hold(mount, opened)), [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

function hold(mount: Mount, opened: number[]): CheckedMount {
  const { path } = mount;
  // Elsewhere the engine sees no files of this machine, and mounts are refused.
  const held = process.platform === "linux" ? open(path, opened) : path;
  const { dev, ino, uid, gid, mode } = statSync(held, { bigint: true }); // inodes may be more than a number can be
  const kind = Number(mode) & constants.S_IFMT;
  const isFolder = kind === constants.S_IFDIR;
  if (!isFolder && (kind !== constants.S_IFREG || mount.mode === "rw")) throw replaced(path);
  const owner = { uid: Number(uid), gid: Number(gid), mode: Number(mode), isFolder };
  return { ...mount, held, identity: `${dev}:${ino}`, owner };
}

/** Returns a path to it. Links at the path itself are not followed, and those on the way would show in where it leads. */
function open(path: string, opened: number[]): string {
  try {
    const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
    opened.push(fd);
    const held = `/proc/self/fd/${fd}`;
    if (readlinkSync(held) !== path) throw replaced(path);
    return held;
  } catch (error) {
    throw error instanceof REPLSecurityError ? error : replaced(path, { cause: error });
  }
}

function replaced(target: string, options?: ErrorOptions): REPLSecurityError {
  const why = "it was removed or replaced while it was checked. Try again";
  return new REPLSecurityError({ action: "mount", target, environment: "docker", why }, options);
}
