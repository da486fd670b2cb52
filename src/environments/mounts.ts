// Which folders of the host a sandbox may see. Others are refused before anything starts.

import { realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, resolve } from "node:path";
import { REPLSecurityError } from "../errors.ts";
import { findSecrets } from "../util/secret-files.ts";
import type { Mount } from "../api/local.ts";
import { homeFolder } from "../util/home-folder.ts";

/** Never mounted whole: the state of the machine, or the files of every user. Most folders in them may be mounted. */
const NEVER_WHOLE = [
  ..."/ /bin /boot /dev /etc /home /lib /lib64 /proc /root /run /sbin /sys".split(" "),
  ..."/Applications /Library /System /Users /Volumes /private /private/etc /private/tmp /private/var".split(" "), // of macOS
];
/** Nothing inside these is ever mounted. */
const NEVER = ["/dev", "/proc", "/sys"];
/** Why a path cannot be resolved, by the code of the error. */
const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  ENOTDIR: "it does not exist",
  ELOOP: "its links lead in a circle",
  EACCES: "this user may not read it (a FUSE file system of another user needs the option allow_other)",
};
/** Every sandbox has its own. */
const OWN = ["/work", "/forks", "/tmp", "/usr", "/var"];

/** Checks mounts, and resolves links in their paths, so that what was checked is what is mounted. Throws REPLSecurityError. */
export function resolveMounts(mounts: readonly Mount[], environment: string): readonly Mount[] {
  return mounts.map((mount) => withName(mount, checkMount(mount.path, mount.mode, environment)));
}

/** What `linkMounts` has found. */
export interface MountLinks {
  /** By the name in the working directory: where the link leads. */
  readonly links: Readonly<Record<string, string>>;
  /** For each mount without a link because another one has its name: a sentence without a full stop. */
  readonly problems: readonly string[];
}

/** The links in the working directory to mounts, which have been resolved. */
export function linkMounts(mounts: readonly Mount[]): MountLinks {
  const links = new Map<string, string>();
  const problems: string[] = [];
  for (const { path, name = "", isOptional } of mounts) {
    if (isOptional === true || name === "") continue;
    const first = links.get(name);
    if (first === undefined) links.set(name, path);
    else if (first !== path)
      problems.push(`'${name}' in the working directory is ${first}, so ${path} is only at its own path`);
  }
  return { links: Object.fromEntries(links), problems };
}

/** A mount with what is unreadable in it, as `findSecrets` lists it. */
export interface PreparedMount extends Mount {
  readonly hidden?: readonly string[];
  /** Where another program makes the mount: what it must be. Checked in the sandbox, before code of a session runs. */
  readonly expected?: ExpectedMount;
}

export interface ExpectedMount {
  /** Its device and inode, `DEVICE:INODE`. */
  readonly identity: string;
  /** What in it is covered by another mount, as `hidden`. */
  readonly covered: readonly string[];
}

/** A mount with another path to it, if it is held open: what is renamed meanwhile does not change where that leads. */
export type HeldMount = Mount & { readonly held?: string };

/** Finds the secrets that resolved mounts hide. Throws REPLSecurityError for a folder that is too large to be searched. */
export function findHidden<M extends HeldMount>(
  mounts: readonly M[],
  environment: string,
): Promise<readonly (M & PreparedMount)[]> {
  return Promise.all(
    mounts.map(async (mount) => {
      const { path, held = path } = mount;
      if (mount.hideSecrets !== true || !statSync(held).isDirectory()) return mount;
      try {
        return { ...mount, hidden: await findSecrets(path, held) };
      } catch (error) {
        const why = `${(error as Error).message}. Mount it without hiding its secrets (--mount ${mount.path}), or a part of it`;
        throw new REPLSecurityError({ action: "mount", target: mount.path, environment, why }, { cause: error });
      }
    }),
  );
}

interface PoolOptions {
  readonly poolSize: number;
  readonly poolOptions: { readonly mounts: readonly Mount[] };
}

/** None where secrets are hidden: a sandbox that waits would show those that are created meanwhile. */
export function poolSizeFor({ poolSize, poolOptions }: PoolOptions): number {
  return poolOptions.mounts.some(({ hideSecrets }) => hideSecrets === true) ? 0 : poolSize;
}

/**
 * For a sandbox that shows all of a folder, or nothing: the mounts without optional ones that hold secrets, and why these are left out. Throws
 * REPLSecurityError for another with secrets to hide.
 */
export function leaveOutHidden(
  mounts: readonly PreparedMount[],
  environment: string,
): { readonly kept: readonly PreparedMount[]; readonly notMounted: readonly string[] } {
  const holding = mounts.filter(({ hidden = [] }) => hidden.length > 0);
  const notMounted = holding.map(({ path, hidden = [], isOptional }) => {
    const more = hidden.length > 1 ? ` and ${hidden.length - 1} more` : "";
    const why = `it holds secrets (${hidden[0]}${more}), which this tier of the sandbox cannot hide. Mount a part of it, or all of it as it is with --mount ${path}`;
    if (isOptional !== true) throw new REPLSecurityError({ action: "mount", target: path, environment, why });
    return `Sessions do not see ${path}: ${why}.`;
  });
  return { kept: mounts.filter((mount) => !holding.includes(mount)), notMounted };
}

/** Resolves links where that is possible, and checks nothing: equal mounts get equal paths. */
export function toRealPaths(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.map((mount) => withName(mount, toRealPath(resolve(mount.path))));
}

/** Parses `PATH[:ro|rw]`. The default is read-only. */
export function parseMount(text: string): Mount {
  const match = /^(?<path>.+?)(?::(?<mode>ro|rw))?$/s.exec(text);
  const path = match?.groups?.["path"];
  if (path === undefined) throw new RangeError(`Cannot read '${text}' as a mount: expected PATH[:ro|rw]`);
  return { path: resolve(path), mode: match?.groups?.["mode"] === "rw" ? "rw" : "ro" };
}

function checkMount(path: string, mode: string, environment: string): string {
  const refuse = (why: string): never => {
    throw new REPLSecurityError({ action: "mount", target: path, environment, why });
  };
  if (!isAbsolute(path)) refuse("the path is not absolute");
  if (path.includes("\0")) refuse("the path holds a NUL byte");
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    return refuse(WHY_NOT[(error as NodeJS.ErrnoException).code ?? ""] ?? (error as Error).message);
  }
  if (NEVER_WHOLE.includes(real) || `${homeFolder()}/`.startsWith(`${real}/`))
    refuse("that would show far more than a project");
  if (NEVER.some((folder) => real.startsWith(`${folder}/`))) refuse("devices and kernel files are not for a sandbox");
  if (OWN.includes(real)) refuse(`the sandbox has a ${real} of its own`);
  const status = statSync(real);
  if (!status.isDirectory() && !status.isFile()) refuse("it is neither a folder nor a file");
  if (mode === "rw" && !status.isDirectory()) refuse("only a folder can be mounted for writing");
  if (mode !== "ro" && mode !== "rw") refuse(`the mode is '${mode}', not 'ro' or 'rw'`);
  return real;
}

/** Its link has the name that its user knows, also where the path leads elsewhere. */
function withName(mount: Mount, path: string): Mount {
  const { name = mount.isOptional === true ? undefined : basename(resolve(mount.path)) } = mount;
  return { ...mount, path, ...(name !== undefined && { name }) };
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // resolveMounts refuses it later, with the reason
  }
}
