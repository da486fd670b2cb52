// Memory and work of the kernel that no limit counts: code gets none of it, and programs find other ways.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const [EPERM, EINVAL, ENOMEM, ENOSYS, EOPNOTSUPP] = [1, 22, 12, 38, 95];

let stage: OpenStage;
let session: Session;

beforeAll(async () => {
  stage = await openStage();
  session = await stage.runtime.openSession();
  const setup = `${prelude}
import shutil
open("file", "wb").write(b"x" * 5000)
file = os.open("file", os.O_RDWR)
buffer = ctypes.create_string_buffer(8192)
reader, writer = os.pipe()
one, two = socket.socketpair()
def errno_of(call):
    try: call()
    except OSError as e: return e.errno
    return 0`;
  (await session.execute(setup).result).unwrap();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

describe("the disks of the host", () => {
  test("cannot be kept busy by writing back everything", async () => {
    expect(await errnoOf(`SC(NR(306,267), file)`)).toBe(ENOSYS);
    expect(await errnoOf(`SC(NR(16,29), file, 0x9408)`), "as btrfs does").toBe(EPERM);
    // `sync` has no result; that it does nothing is shown by test_seccomp.py.
    expect(await shell("sync && sync file && echo done")).toBe("done\n");
  });

  test("get no asynchronous requests, which are counted for the whole machine", async () => {
    expect(await errnoOf(`SC(NR(206,0), 8, ctypes.byref(ctypes.c_ulong()))`)).toBe(ENOSYS);
  });
});

describe("pages that outlive their file", () => {
  test.each([
    ["vmsplice", `SC(NR(278,75), writer, ctypes.byref((ctypes.c_size_t * 2)(ctypes.addressof(buffer), 1)), 1, 0)`],
    ["splice", `SC(NR(275,76), file, 0, writer, 0, 1, 0)`],
    ["tee", `[os.write(writer, b"x"), SC(NR(276,77), reader, os.pipe()[1], 1, 0)]`],
    ["sendfile to a socket", `os.sendfile(one.fileno(), file, 0, 1)`],
    ["sendfile to a pipe", `os.sendfile(writer, file, 0, 1)`],
  ])("%s", async (_, code) => {
    expect(await errnoOf(code)).toBe(EINVAL);
  });

  test.each([
    ["shutil.copyfile", `shutil.copyfile("file", "copy"); len(open("copy").read())`],
    ["socket.sendfile", `len([one.sendfile(open("file", "rb")), two.recv(9000)][1])`],
    ["os.copy_file_range", `os.copy_file_range(file, os.open("range", os.O_CREAT | os.O_RDWR), 5000, 0)`],
  ])("Python's %s copies in another way", async (_, code) => {
    expect((await session.execute(code).result).value).toEqual({ "text/plain": "5000" });
  });

  test.each([
    ["cp", "cp file cp.out && cp --sparse=never file cp.out"],
    ["cat", "cat file > cat.out && cat file | cat > cat.out"],
    ["tee", "tee tee.out < file > tee.out2"],
    ["tar", "tar cf - file | tar xf - -O > tar.out"],
    [
      "node",
      `node -e 'const fs = require("fs"); fs.copyFileSync("file", "n"); fs.copyFile("file", "node.out", (e) => { if (e) throw e; })'`,
    ],
    [
      "git",
      "git init -q g && cp file g && cd g && git add . && git -c user.name=a -c user.email=a@b commit -qm x && git clone -q . ../h",
    ],
  ])("%s copies in another way", async (program, command) => {
    expect(await shell(`command -v ${program} >/dev/null || { echo none; exit; }\n(${command}) && echo done`)).toMatch(
      /done|none/,
    );
  });
});

describe("memory of the kernel", () => {
  test("a socket holds no more than the default, whatever its code asks for", async () => {
    const code = `def size(): return [one.getsockopt(socket.SOL_SOCKET, name) for name in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
before = size()
for name in (socket.SO_SNDBUF, socket.SO_RCVBUF): one.setsockopt(socket.SOL_SOCKET, name, 1 << 30)
denied = [errno_of(lambda: one.setsockopt(socket.SOL_SOCKET, name, bytes(16))) for name in (32, 33, 26, 50)]
[before == size(), denied == [${EPERM}] * 4]`;
    expect((await session.execute(code).result).value).toEqual({ "text/plain": "[True, True]" });
  });

  test("no Landlock rules", async () => {
    expect(await errnoOf(`SC(444, 0, 0, 1)`)).toBe(ENOSYS);
    expect(await errnoOf(`SC(444, struct.pack("=Q", 1), 8, 0)`)).toBe(ENOSYS);
  });

  test("no system call filters, which are counted for the whole machine once they are compiled", async () => {
    // Each installs a filter that allows everything: one with a listener, one without, one in the old way.
    const code = `import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", 1, ctypes.addressof(allow)))
seccomp, prctl = (317, 157) if os.uname().machine == "x86_64" else (277, 167)
ways = (seccomp, 1, 8, program), (seccomp, 1, 0, program), (prctl, 22, 2, program, 0, 0)
print([0 if libc.syscall(*way) >= 0 else ctypes.get_errno() for way in ways])`;
    const expected = `[${ENOSYS}, ${ENOSYS}, ${EINVAL}]\n`;
    expect((await session.execute(code).result).stdout).toBe(expected);
    await session.files.write("code.py", code);
    const command = await stage.runtime.shell("python3 code.py", { session }).result;
    expect(command).toMatchObject({ exitCode: 0, stdout: expected });
  });

  test("no table of futexes of any size", async () => {
    expect(await errnoOf(`SC(NR(157,167), 78, 1, 1 << 16, 0, 0)`)).toBe(EINVAL);
  });

  test("no pages of the machine's pool of huge ones", async () => {
    expect(await errnoOf(`SC(NR(9,222), 0, 2 << 20, 3, 0x40022, -1, 0)`)).toBe(ENOMEM);
  });

  test("no access control lists, which count for no quota", async () => {
    for (const name of ["system.posix_acl_access", "user.note"]) {
      expect(await errnoOf(`os.setxattr("file", "${name}", b"x")`)).toBe(EOPNOTSUPP);
      expect(await errnoOf(`os.setxattr("file", "${name}", b"x", follow_symlinks=False)`)).toBe(EOPNOTSUPP);
      expect(await errnoOf(`os.setxattr(file, "${name}", b"x")`)).toBe(EOPNOTSUPP);
    }
    expect(await shell("cp -a file attributes.out && echo done")).toBe("done\n");
  });

  test("no locked memory", async () => {
    const lock = `ctypes.c_void_p(ctypes.addressof(buffer))`;
    for (const call of [`SC(NR(149,228), ${lock}, 4096)`, `SC(325 if X64 else 284, ${lock}, 4096, 0)`]) {
      expect(await errnoOf(call)).toBe(EPERM);
    }
    expect(await errnoOf(`SC(NR(151,230), 1)`)).toBe(EPERM);
    expect(await errnoOf(`SC(NR(9,222), 0, 4096, 3, 0x2022, -1, 0)`), "mmap").toBe(EPERM);
  });
});

describe("a crash", () => {
  test("starts no program of the host that handles core dumps, whatever limit its code sets", async () => {
    const code = `import resource
for limit in (0, 1 << 20): resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
resource.getrlimit(resource.RLIMIT_CORE)`;
    expect((await session.execute(code).result).value).toEqual({ "text/plain": "(1, 1)" });
    expect(await shell("ulimit -c 0; ulimit -Hc 0; grep core /proc/self/limits")).toMatch(/size +1 +1 +bytes/);
  });
});

describe("a thread has the descriptors of its process", () => {
  test("from its birth on", async () => {
    // CLONE_VM, CLONE_SIGHAND and CLONE_THREAD, not CLONE_FILES.
    expect(await errnoOf(`SC(NR(56,220), 0x10900, 0, 0, 0, 0)`)).toBe(EPERM);
  });

  test("and for ever", async () => {
    expect(await errnoOf(`SC(436, 1000000, 1000001, 2)`)).toBe(EINVAL);
    expect(await errnoOf(`SC(436, 1000000, 1000001, 0)`)).toBe(0);
  });
});

async function errnoOf(code: string): Promise<number> {
  const { value, error } = await session.execute(`errno_of(lambda: ${code})`).result;
  if (error !== undefined) throw new Error(error.traceback);
  return Number(value?.["text/plain"]);
}

async function shell(command: string): Promise<string> {
  const { stdout, stderr } = await stage.runtime.shell(command, { session }).result;
  return stdout + stderr;
}
