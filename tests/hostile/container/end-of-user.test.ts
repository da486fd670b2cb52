// The end of a session of tier C that has a user of its own: what has this user, too, while it ends the session.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot, openHosts, type Hosts } from "./container-host.ts";

/** Stops every process of its user that is started later. */
const STOPS = `import os, signal, time
until = time.monotonic() + 60
ready, told = os.pipe()
if os.fork() == 0:
  os.setsid()
  newest = lambda: int(open("/proc/loadavg").read().split()[-1])
  first = newest()
  os.write(told, b"1")
  while time.monotonic() < until:
    last = newest()
    for pid in range(max(first, last - 20) + 1, last + 5):
      try: os.kill(pid, signal.SIGSTOP)
      except OSError: pass
  os._exit(0)
os.read(ready, 1)`;

let hosts: Hosts;

beforeAll(async () => {
  hosts = await openHosts();
});
afterAll(() => hosts[Symbol.dispose]());

describe.skipIf(!isRoot)("a session with a user of its own", () => {
  test("ends, also where its processes may stop whatever has its user (before Linux 6.12)", async () => {
    const way = { env: { RLM_SANDBOX_LANDLOCK: "2" } };
    expect(await hosts.run(way, { codes: [STOPS] })).toEqual(["b'1'"]);
  }, 40_000);
});
