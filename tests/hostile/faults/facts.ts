// How a sandbox is confined, as facts: a sandbox that is confined completely has the same facts as every other.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Session } from "../../internals.ts";

export type Facts = Readonly<Record<string, unknown>>;

/** What a session sees and may do. Prints JSON. */
const INSIDE = `
def _facts():
    import ctypes, errno, fcntl, json, os, resource, socket, stat, struct
    def attempt(work):
        try:
            work()
            return "allowed"
        except OSError as error:
            return errno.errorcode.get(error.errno, error.errno)
    def read(path):
        with open(path) as file:
            return file.read()
    libc = ctypes.CDLL(None, use_errno=True)
    def call(number, *arguments):
        ctypes.set_errno(0)
        libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
        return errno.errorcode.get(ctypes.get_errno(), "allowed")
    def process(pid):
        lines = dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines())
        names = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters")
        return [f"{name} {' '.join(lines[name].split())}" for name in names if name in lines]
    def mount(line):
        before, after = line.split(" - ")
        fields = before.split()
        return [fields[4], fields[5], after.split()[0]]
    x86 = os.uname().machine == "x86_64"
    counters = ("/proc/loadavg", "/proc/sys/kernel/ns_last_pid")  # the worker has one of them, or both
    links = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")]
    links = [link for link in links if link not in counters]
    pair = socket.socketpair()[0]
    try:
        lo = struct.unpack("16sh", fcntl.ioctl(pair, 0x8913, struct.pack("16sh", b"lo", 0)))[1] & 1
    except OSError:
        lo = 0
    root, above = os.stat("/"), os.stat("/..")
    listed = ("/", "/dev", "/etc", "/run", "/var", "/tmp", "/work", "/forks", "/dev/shm")
    return {
        "worker": process("self"), "init": process(1), "parent": os.getppid(), "session": os.getsid(0) == os.getpid(),
        "oom": [read(f"/proc/{pid}/oom_score_adj").strip() for pid in (1, "self")],
        "init's descriptors": attempt(lambda: os.listdir("/proc/1/fd")), "init's environment": attempt(lambda: read("/proc/1/environ")),
        "maps": [read(f"/proc/self/{kind}_map").split()[::2] for kind in ("uid", "gid")],
        "setgroups": read("/proc/self/setgroups").strip(), "name": os.uname().nodename, "few processes": sum(n.isdigit() for n in os.listdir("/proc")) < 10,  # the init may count something meanwhile
       
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource)) if name.startswith("RLIMIT_")},
        "mark": resource.getrlimit(10)[1],
        "counts": {name: read(f"/proc/sys/user/{name}").strip() for name in sorted(os.listdir("/proc/sys/user")) if name.startswith(("max_user", "max_fan", "max_ino"))},
        "mounts": sorted(map(mount, read("/proc/self/mountinfo").splitlines())), "top": (root.st_dev, root.st_ino) == (above.st_dev, above.st_ino),
        "listed": {path: sorted(os.listdir(path)) for path in listed}, "cwd": os.getcwd(),
        "modes": {path: oct(os.stat(path).st_mode) for path in listed}, "disk": [os.statvfs("/work").f_blocks, os.statvfs("/work").f_files],
        "accounts": [read("/etc/passwd"), read("/etc/group"), read("/etc/hosts")],
        "writes": {path: attempt(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT))) for path in ("/a", "/etc/a", "/etc/passwd", "/usr/a", "/dev/a", "/proc/self/comm", "/proc/sys/user/max_user_namespaces")},
        "may write": {path: attempt(lambda: (os.close(os.open(path, os.O_WRONLY | os.O_CREAT)), os.unlink(path))) for path in ("/work/a", "/tmp/a", "/dev/shm/a", "/forks/a")},
        "null": attempt(lambda: os.close(os.open("/dev/null", os.O_RDWR))),
        "socket": attempt(lambda: socket.socket()), "network": [line.split(":")[0].strip() for line in read("/proc/net/dev").splitlines()[2:]], "lo": lo,
        "calls": {"unshare": call(272 if x86 else 97, 0x10000000), "memfd_create": call(319 if x86 else 279, 0, 0), "keyctl": call(250 if x86 else 219, 0, 0), "clone3": call(435, 0, 0)},
        "namespaces": {name: attempt(lambda: os.readlink(f"/proc/1/ns/{name}")) for name in ("mnt", "user")},
        "descriptors": sorted({link.split(":")[0]: sum(other.split(":")[0] == link.split(":")[0] for other in links) for link in links}.items()),
        "environment": sorted(os.environ.items()), "terminal": attempt(lambda: os.open("/dev/tty", os.O_RDWR)),
        "signals": [line for line in read("/proc/self/status").splitlines() if line.startswith(("SigBlk", "SigIgn"))],
    }
import json
print(json.dumps(_facts()))
`;

export async function factsInside(session: Session): Promise<Facts> {
  const result = await session.execute(INSIDE).result;
  if (result.status !== "ok") throw new Error(`${result.status}: ${result.error?.traceback ?? ""}`);
  return JSON.parse(result.stdout) as Facts;
}

const NAMESPACES = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];

/** What the host sees of an init. */
export function factsOutside(init: number): Facts {
  const status = readFileSync(`/proc/${init}/status`, "utf8");
  const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
  const map = readFileSync(`/proc/${init}/uid_map`, "utf8").trim().split(/\s+/).map(Number);
  return {
    "shared namespaces": NAMESPACES.filter((name) => namespace(init, name) === namespace("self", name)),
    "has own user": uid >= 1_000_000 && map[1] === uid,
    cgroup: cgroupLimit(init),
    "open in the init": readdirSync(`/proc/${init}/fd`).length,
  };
}

function namespace(pid: number | string, name: string): string {
  return readlinkSync(`/proc/${pid}/ns/${name}`);
}

/** The memory limit of a cgroup of its own. Null: it has none. */
function cgroupLimit(pid: number): string | null {
  const path = /^\d+:(?:\w+,)*memory(?:,\w+)*:(?<path>.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))
    ?.groups?.["path"];
  if (path === undefined || !/\/rlm-\d+-\d+-\d+$/.test(path)) return null;
  const mount = /^(?:\S+ ){4}(?<folder>\S+) .* - cgroup \S+ \S*\bmemory\b/m;
  const folder = mount.exec(readFileSync("/proc/self/mountinfo", "utf8"))?.groups?.["folder"];
  return readFileSync(`${folder}${path}/memory.limit_in_bytes`, "utf8").trim();
}

/** The names of facts that are not the same, with both values. */
export function differences(expected: Facts, found: Facts): readonly string[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  return names.flatMap((name) => {
    const [wanted, got] = [JSON.stringify(expected[name]), JSON.stringify(found[name])];
    return wanted === got ? [] : [`${name}: ${got} instead of ${wanted}`];
  });
}
