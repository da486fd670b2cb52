// A session that closes its ends of pipes must not make the host use a descriptor number that was reused.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 0 });
});
afterAll(() => runtime.close());

const FIND = `
import gc, json, os, threading, time
from _rlm_worker.worker import Worker
worker = next(o for o in gc.get_objects() if isinstance(o, Worker))
listener, events = worker._listener, worker._writer.fd
`;

test("a session whose pipe the host had to give up never writes into the next session's", async () => {
  await using attacker = await runtime.openSession({ onCall: async () => "y".repeat(4000) });
  // Nothing reads the aside pipe any more: replies fill it until the host waits for space, then it is closed.
  const code = `${FIND}
aside = listener._reader.fd
listener._reader.read = lambda: time.sleep(10**6)
for i in range(40):
    os.write(events, (json.dumps({"type": "call", "id": "z", "call": i, "name": "q", "args": {}}) + "\\n").encode())
time.sleep(0.3)
os.close(aside)
time.sleep(0.2)`;
  expect((await attacker.execute(code).result).status).toBe("ok");
  await using victim = await runtime.openSession();
  await victim.execute("secret = 42").result;
  for (let round = 0; round < 5; round += 1) {
    await attacker.execute("time.sleep(0.05)", { timeoutMs: 3000 }).result; // long enough for the host to send aside
    expect((await victim.execute("secret").result).value).toEqual({ "text/plain": "42" });
  }
});

test("output that is read at the end of an execution does not overwrite messages that came with the end", async () => {
  await using session = await runtime.openSession({ onCall: async () => 1 });
  await session.execute(`
import rlm_host, threading
def loop():
    while True:
        try: rlm_host.call("x")
        except Exception: pass
for i in range(20): threading.Thread(target=loop, daemon=True).start()`).result;
  for (let round = 0; round < 150; round += 1) {
    const result = await session.execute("for i in range(200): print('#' * 300)").result;
    expect(result).toMatchObject({ status: "ok", state: "kept", stdout: `${"#".repeat(300)}\n`.repeat(200) });
  }
});
