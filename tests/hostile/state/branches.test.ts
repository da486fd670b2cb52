// Forks attacked from inside: a family of forks is one trust domain, and the harm ends there.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { childrenOf, comesTrue, descendantsOf, isAlive } from "../machine.ts";
import { skipInTierC } from "../../tier.ts";

let runtime: Runtime;
let bystander: Session;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 0, timeoutMs: 20_000 });
  bystander = await runtime.openSession();
  await bystander.execute("safe = 'yes'").result;
});
afterAll(() => runtime.close());

/** Waits until the sandbox has this many processes; those that remove a session's files end by themselves. */
const comesTo = (count: number): string => `
import os, time
def count(): return len([pid for pid in os.listdir("/proc") if pid.isdigit()])
deadline = time.monotonic() + 20
while count() != ${count} and time.monotonic() < deadline: time.sleep(0.005)
count()
`;

/** The control socket: the only socket of a fresh session. */
const control = `
import os, socket
fd = next(int(n) for n in os.listdir("/proc/self/fd") if os.path.lexists("/proc/self/fd/" + n) and os.readlink("/proc/self/fd/" + n).startswith("socket:"))
control = socket.socket(fileno=os.dup(fd))
`;

// Some wait for a limit, so several run concurrently.
describe.concurrent(
  "whatever code does to its own worker, a copy is made or refused, and the runtime goes on",
  { tags: "stress" },
  () => {
    test.each([
      [
        "takes what comes through the control socket",
        `${control}\nimport threading\nthreading.Thread(target=lambda: control.recvmsg(4096, 4096), daemon=True).start()`,
      ],
      [
        "floods the control socket",
        `${control}\ncontrol.setblocking(False)\ntry:\n  while True: control.send(b"h" * 900)\nexcept BlockingIOError: pass`,
      ],
      ["closes the control socket", `${control}\nos.close(fd); control.close()`],
      ["reports on the control socket that it is ready", `${control}\ncontrol.send(b"h")`],
      [
        "takes what comes through the control socket and reports itself as ready",
        `${control}\nimport threading\ndef liar():
  _, fds, _, _ = socket.recv_fds(control, 4096, 8)
  socket.socket(fileno=fds[0]).send(b"h")
  for fd in fds[1:]:
    try: os.write(fd, b'{"type":"ready","id":null,"protocol":1,"python":"3.11.2"}\\n')
    except OSError: pass
threading.Thread(target=liar, daemon=True).start()`,
      ],
      [
        "has its own child report that it is ready",
        `${control}\nimport threading\ndef liar():
  _, fds, _, _ = socket.recv_fds(control, 4096, 8)
  if os.fork() == 0:
    socket.socket(fileno=fds[0]).send(b"h")
    os._exit(0)
threading.Thread(target=liar, daemon=True).start()`,
      ],
      ["replaces os.fork", "import os; os.fork = lambda: 0"],
      ["replaces os.fork by one that fails", "import os\ndef no(): raise OSError('no')\nos.fork = no"],
      [
        "forks in a hook of the fork",
        "import os; os.register_at_fork(before=lambda: None, after_in_child=lambda: os._exit(0))",
      ],
      ["dies in a hook of the fork", "import os; os.register_at_fork(before=lambda: os._exit(0))"],
      ["breaks json", "import json; json.loads = lambda *a: {}"],
      [
        "breaks the modules of the worker",
        "import sys\nfor name in list(sys.modules):\n  if name.startswith('_rlm_worker'): vars(sys.modules[name]).clear()",
      ],
      [
        "uses up its processes",
        "import os, time\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(1000)\nexcept OSError: pass",
      ],
      [
        "uses up its descriptors",
        "import os\nkept = []\ntry:\n  while True: kept.append(os.dup(0))\nexcept OSError: pass",
      ],
      [
        "fills the disk",
        "try:\n  open('x', 'wb').write(bytes(900 * 2**20)); open('y', 'wb').write(bytes(900 * 2**20))\nexcept OSError: pass",
      ],
    ])("%s", async (_, attack) => {
      const session = await runtime.openSession({ limits: { processes: 24, openFiles: 128, diskBytes: 2 ** 30 } });
      await session.execute(attack).result;
      const [fork] = await Promise.allSettled([session.fork()]);
      if (fork.status === "rejected") expect(fork.reason).toHaveProperty("code");
      else await fork.value.close();
      await session.close();
      expect(await valueOf(bystander, "safe")).toBe("'yes'");
      await using after = await runtime.openSession();
      await using copy = await after.fork();
      expect(await valueOf(copy, "1 + 1")).toBe("2");
    });
  },
);

test.concurrent("a copy that never stands is given up", { tags: "stress" }, async () => {
  const session = await runtime.openSession();
  await session.execute("import os, time; os.register_at_fork(after_in_child=lambda: time.sleep(1000)); x = 1").result;
  await expect(session.checkpoint()).rejects.toThrow(/did not stand within 5 s/);
  expect(await valueOf(session, "x")).toBe("1");
  await session.close();
});

// The `expect` of the test: the global one does not know which of the tests at a time polls.
test.concurrent("a checkpoint that is killed while it is being made does not reach the host as more than that", async (context) => {
  const session = await runtime.openSession();
  await session.checkpoint();
  await session.execute(`
import os, time
killed = False
def mark(pid):
    try: return open(f"/proc/{pid}/limits").read().partition("Max file locks")[2].split()[0]
    except OSError: return "0"
def stands(pid):
    try: return os.readlink(f"/proc/{pid}/fd/0") and open(f"/proc/{pid}/wchan").read() and open(f"/proc/{pid}/stat").read().split()[2] == "S"
    except OSError: return False
def kill_copy():
    global killed
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if mark(pid) not in ("0", "1", "2", "unlimited") and stands(pid):
                time.sleep(0.1) # until the init knows that it is ready
                os.kill(int(pid), 9)
                killed = True
                while os.path.exists(f"/proc/{pid}"): time.sleep(0.01)
                time.sleep(0.1) # until the host knows that it has ended
                return
        time.sleep(0.001)
os.register_at_fork(after_in_parent=kill_copy)
`).result;
  await Promise.allSettled([session.checkpoint()]);
  // On a busy machine the attack may come too late.
  const left = (await valueOf(session, "killed")) === "True" ? ["c1"] : ["c1", "c2"];
  await context.expect.poll(() => session.checkpoints().map(({ id }) => id)).toEqual(left);
  await session.close();
});

test.concurrent("a fork bomb in one branch ends with it, and the others hardly notice", async (context) => {
  skipInTierC(context, "the processes of other sessions are in the same /proc");
  const session = await runtime.openSession({ limits: { processes: 64 } });
  await session.execute("x = 1").result;
  const fork = await session.fork();
  const bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass";
  const result = await fork.execute(bomb, { timeoutMs: 300 }).result;
  expect(result.status).toBe("interrupted");
  await fork.close();
  expect(await valueOf(session, "x")).toBe("1");
  expect(await valueOf(session, comesTo(2))).toBe("2");
  await session.close();
});

test.concurrent("a process that hides behind another mark ends with its sandbox at the latest", async (context) => {
  skipInTierC(context, "the processes of other sessions are in the same /proc");
  const session = await runtime.openSession();
  const hide = `
import os, resource, time
hidden, hides = os.pipe()
if os.fork() == 0:
    os.setsid()
    resource.setrlimit(10, (77, resource.RLIM_INFINITY))
    os.write(hides, b"!")
    time.sleep(1000)
os.read(hidden, 1)
`;
  const fork = await session.fork();
  (await fork.execute(hide).result).unwrap();
  await fork.close();
  expect(await valueOf(session, comesTo(3))).toBe("3"); // the init, this worker, and the one that hides
  await session.execute("import os; os._exit(0)").result; // the last branch: what is left is nobody's
  expect(await valueOf(session, comesTo(2))).toBe("2");
  await session.close();
});

test("closing the runtime ends every branch, live or frozen, also of forks whose parents are gone", async () => {
  const own = await openTestRuntime({ poolSize: 0 });
  const before = new Set(descendantsOf(process.pid));
  const session = await own.openSession();
  const fork = await session.fork();
  const grandchild = await fork.fork();
  await Promise.all([session.checkpoint(), fork.checkpoint(), grandchild.checkpoint()]);
  await session.close();
  await fork.execute("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)").result;
  const family = descendantsOf(process.pid).filter((pid) => !before.has(pid));
  expect(family.length).toBeGreaterThanOrEqual(6);
  await own.close();
  expect(await comesTrue(() => family.filter(isAlive).length === 0)).toBe(true);
  expect(childrenOf(process.pid).filter((pid) => family.includes(pid))).toEqual([]);
});
