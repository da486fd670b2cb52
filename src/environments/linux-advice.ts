// What to do where a step of the sandbox failed, by the step, its error and what this machine is.

import { existsSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { findBubblewrap, IN_BUBBLEWRAP } from "./bubblewrap.ts";

/** The options with which a container may build the sandbox of tier A. Docker hides parts of /proc, and its filter denies namespaces. */
const UNCONFINED = ["seccomp", "apparmor", "systempaths"].map((name) => `--security-opt ${name}=unconfined`).join(" ");
/** Ubuntu 24.04 has the profile and does not use it; later ones use it. */
const LOAD_PROFILE =
  "where /etc/apparmor.d/bwrap-userns-restrict is missing, apt install apparmor-profiles && " +
  "cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && systemctl reload apparmor";
const CAP_SETUID = 1n << 7n;
const EPERM = 1;
const EACCES = 13;
const ENOSPC = 28;
/** Steps that need the privileges which a process has in its own user namespace. */
const PRIVILEGED = [
  "map the user",
  "set the host name",
  "build the root",
  "limit what is counted for its user",
  "make /proc read-only",
];

export const AS_ANOTHER_USER = "Start it as an ordinary user, or as root with all capabilities";

/** The fix for a failed step. Undefined: the machine is not the reason. */
export function adviseOn(stage: string, message: string, inContainer = isInContainer()): string | undefined {
  const errno = Number(/\[Errno (\d+)\](?!.*\[Errno)/.exec(message)?.[1] ?? 0);
  if (stage === IN_BUBBLEWRAP) return adviseOnBubblewrap(message, inContainer);
  const isDenied = errno === EPERM || errno === EACCES || message.includes("EACCES");
  if (stage === "fork" && errno === ENOSPC) {
    return "Allow user namespaces, as root of the machine: sysctl user.max_user_namespaces=15000";
  }
  if (!isDenied || !(stage === "fork" || stage === "open the pipes of a worker" || PRIVILEGED.includes(stage))) return;
  if (stage === "build the root" && /'\/.+'$/.test(message)) return; // a path that was to be mounted
  if (inContainer) return containerLine();
  if (stage === "fork" && isChroot()) {
    return "The kernel refuses user namespaces in a chroot: use a container or systemd-nspawn for this folder instead of chroot";
  }
  if (isRootByName()) return AS_ANOTHER_USER;
  if (stage === "fork" && setting("kernel/unprivileged_userns_clone") === "0") {
    return "Allow user namespaces, as root of the machine: sysctl kernel.unprivileged_userns_clone=1";
  }
  if (message.endsWith("'proc'")) {
    return "Parts of /proc are covered by other mounts, so no other can be made: unmount them (grep ' /proc/' /proc/self/mountinfo)";
  }
  if (stage === "open the pipes of a worker") return;
  const restricted = setting("kernel/apparmor_restrict_unprivileged_userns");
  if (restricted === "0" || (restricted !== "1" && stage === "fork")) {
    return (
      "A system call filter, a security module or a chroot denies user namespaces: start it outside of that, " +
      "or allow unshare, clone and mount there"
    );
  }
  return (
    "Ubuntu and others take away the privileges in a user namespace. Allow them, as root of the machine: " +
    `sysctl kernel.apparmor_restrict_unprivileged_userns=0${forBubblewrapOnly()}`
  );
}

/** A way that changes less, for ordinary users. Where user namespaces are forbidden altogether, the package of bubblewrap does not help. */
function forBubblewrapOnly(): string {
  if (process.getuid?.() === 0) return "";
  const install = "path" in findBubblewrap() ? "" : "apt install bubblewrap, and ";
  return `; or allow them to bubblewrap alone: ${install}${LOAD_PROFILE}`;
}

/** By what bubblewrap says. Undefined: something else is wrong. */
function adviseOnBubblewrap(message: string, inContainer: boolean): string | undefined {
  if (!/uid map|RTM_NEWADDR|[Nn]amespace|Operation not permitted|Permission denied/.test(message)) return undefined;
  if (inContainer) return containerLine();
  if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1") {
    return `Allow user namespaces to bubblewrap, as root of the machine: ${LOAD_PROFILE}`;
  }
  return "Allow user namespaces, as root of the machine: sysctl user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1";
}

/** What is wrong with /proc, and the fix. Undefined: nothing. */
export function whyNoProc(): { readonly why: string; readonly fix: string } | undefined {
  if (!existsSync("/proc/self/uid_map")) {
    return { why: "/proc is not mounted", fix: "Mount it, as root of the machine: mount -t proc proc /proc" };
  }
  if (existsSync("/proc/meminfo") && existsSync("/proc/sys/user")) return undefined;
  const why = "/proc shows processes and nothing else (it is mounted with subset=pid)";
  return { why, fix: "Mount it as a whole, as root of the machine: mount -t proc proc /proc" };
}

/** The whole command line with which tier A can be built in a container. */
export function containerLine(): string {
  const asUser = `docker run ${UNCONFINED} --user 1000:1000 ...`;
  if (process.getuid?.() !== 0) return `Start the container with: ${asUser}`;
  const asRoot = `docker run ${UNCONFINED} --cap-add SYS_ADMIN --cap-add SYS_PTRACE ...`;
  return `Start the container with: ${asRoot}, or as an ordinary user, who needs no capabilities, with: ${asUser}`;
}

/** Docker, Podman, Kubernetes and others leave one of these marks. */
export function isInContainer(): boolean {
  if (existsSync("/.dockerenv") || existsSync("/run/.containerenv") || process.env["container"]) return true;
  return /docker|kubepods|containerd|libpod|lxc/.test(read("/proc/1/cgroup"));
}

/** Root that has lost its capabilities, such as the right to become another user. */
function isRootByName(): boolean {
  const effective = BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(read("/proc/self/status"))?.[1] ?? "0"}`);
  return process.getuid?.() === 0 && (effective & CAP_SETUID) === 0n;
}

function isChroot(): boolean {
  if (!/^\S+ \S+ \S+ \S+ \/ /m.test(read("/proc/self/mountinfo"))) return true; // its root is no mount
  try {
    if (readlinkSync("/proc/1/ns/mnt") !== readlinkSync("/proc/self/ns/mnt")) return false; // process 1 may have another root
    const [own, first] = [statSync("/"), statSync("/proc/1/root/.")];
    return own.ino !== first.ino || own.dev !== first.dev;
  } catch {
    return false; // only root may look at process 1
  }
}

function setting(name: string): string {
  return read(`/proc/sys/${name}`).trim();
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
