// Attacks on the worker protocol of docs/protocol.md. User code owns every descriptor of its worker and can send anything.
// It may lie about itself and end its own session, and nothing else.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { growthDuring, liveMiB } from "../live-memory.ts";
import { toProbe, type Check } from "../probe.ts";
import { hold, openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const DEAD: Check = { dead: true, max_ms: 2500 };
const ALIVE: Check = { alive: true, value_re: "^real$" };

let stage: OpenStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

describe("a message that breaks the framing ends its worker", () => {
  test.each([
    ["a line longer than 64 KiB", `os.write(EVENTS, b"x" * 70000)`],
    ["an empty line", `line(b"")`],
    ["a line that is null", `line(b"null")`],
    ["a line that is an array", `line(b"[]")`],
    ["a line that is a number", `line(b"7")`],
    ["NUL bytes", `line(b"\\0" * 16)`],
    ["a payload of a negative length", `line({"type": "status", "id": "{{EID}}", "bytes": -1})`],
    ["a payload of half a byte", `line({"type": "status", "id": "{{EID}}", "bytes": 1.5})`],
    ["a payload length that is text", `line({"type": "status", "id": "{{EID}}", "bytes": "12"})`],
    ["a payload length that is null", `line({"type": "status", "id": "{{EID}}", "bytes": None})`],
    ["a payload length that is true", `line({"type": "status", "id": "{{EID}}", "bytes": True})`],
    ["a payload one byte past 32 MiB", `line({"type": "status", "id": "{{EID}}", "bytes": (32 << 20) + 1})`],
    ["a payload of 10 to the power of 308", `line(b'{"type": "status", "id": "{{EID}}", "bytes": 1e308}')`],
    [
      "a payload that is no JSON",
      `os.write(EVENTS, b'{"type": "status", "id": "{{EID}}", "bytes": 4}\\n\\xff\\xff\\xff\\xff')`,
    ],
    ["a payload that is an array", `os.write(EVENTS, b'{"type": "status", "id": "{{EID}}", "bytes": 2}\\n[]')`],
    [
      "a call nested 1,000 deep",
      `line(b'{"type":"call","id":"{{EID}}","call":1,"name":"x","args":{"a":' + b"[" * 1000 + b"]" * 1000 + b"}}")`,
    ],
    [
      "a display nested 10,000 deep",
      `line(b'{"type":"display","id":"{{EID}}","data":{"a":' + b"[" * 10000 + b"]" * 10000 + b"}}")`,
    ],
    [
      "a payload nested a million deep",
      `b = b"[" * 1000000 + b"]" * 1000000; os.write(EVENTS, b'{"type":"display","id":"{{EID}}","call":1,"bytes":%d}\\n' % len(b)); [os.write(EVENTS, b[i:i+65536]) for i in range(0, len(b), 65536)]`,
    ],
    [
      "a payload of five million objects",
      `b = b"[" + b"{}," * 5000000 + b"{}]"; os.write(EVENTS, b'{"type":"display","id":"{{EID}}","call":1,"bytes":%d}\\n' % len(b)); [os.write(EVENTS, b[i:i+65536]) for i in range(0, len(b), 65536)]`,
    ],
    [
      "200,000 greetings",
      `b = b'{"type":"ready","id":null,"protocol":1,"python":"3"}\\n' * 1000\nfor i in range(200): os.write(EVENTS, b)`,
    ],
    [
      "20,000 statuses of the running execution",
      `b = b'{"type":"status","id":"{{EID}}","status":"ok"}\\n' * 1000\nfor i in range(20): os.write(EVENTS, b)`,
    ],
  ])("%s", (id, code) => {
    // The flood of statuses ends the execution before the worker is killed.
    const check: Check = id.includes("statuses") ? { max_ms: 2500 } : DEAD;
    return hold(toProbe(id, `${code}\nwhile True: time.sleep(5)`, { check }), prelude, stage);
  });
});

describe("a message that nobody asked for is ignored", () => {
  test.each([
    ["a status of another session", `line({"type": "status", "id": "sibling.1", "status": "ok"})`],
    ["a status that is no status", `line({"type": "status", "id": "{{EID}}", "status": "splendid"})`],
    [
      "a value that is no bundle",
      `line({"type": "status", "id": "{{EID}}", "status": "ok", "value": {"text/plain": 1}})`,
    ],
    ["an error without a name", `line({"type": "status", "id": "{{EID}}", "status": "error", "error": {}})`],
    [
      "an exit code of 10 to the power of 300",
      `line(b'{"type": "status", "id": "{{EID}}", "status": "exit", "exitCode": 1e300}')`,
    ],
    [
      "a display of another execution",
      `line({"type": "display", "id": "sibling.1", "call": 1, "data": {"text/plain": "x"}})`,
    ],
    ["a call without arguments", `line({"type": "call", "id": "{{EID}}", "call": 1, "name": "x"})`],
    ["a call with a long name", `line({"type": "call", "id": "{{EID}}", "call": 1, "name": "x" * 300, "args": {}})`],
    [
      "calls numbered strangely",
      `[line({"type": "call", "id": "{{EID}}", "call": c, "name": "x", "args": {}}) for c in (-1, 1.5, "1", None, 1 << 70)]`,
    ],
    [
      "the same call twice",
      `[line({"type": "call", "id": "{{EID}}", "call": 77, "name": "x", "args": {}}) for _ in range(2)]`,
    ],
    [
      "types that are methods of every object",
      `[line({"type": t, "id": "{{EID}}"}) for t in ("__proto__", "constructor", "toString", "hasOwnProperty")]`,
    ],
    ["invalid UTF-8 in a string", `line(b'{"type": "x", "id": "\\xc3\\x28\\xed\\xa0\\x80"}')`],
    ["a lone surrogate in a string", `line(b'{"type": "x", "id": "\\\\ud800"}')`],
  ])("%s", (id, code) => hold(toProbe(id, `${code}\n"real"`, { check: ALIVE }), prelude, stage));
});

// Most of these wait for a limit, so several run concurrently.
describe.concurrent("a session's own descriptors, misused, harm that session alone", () => {
  test.each([
    [
      "a header, no payload, and _exit",
      `line({"type": "status", "id": "{{EID}}", "bytes": 1000}); os._exit(3)`,
      { dead: true },
    ],
    [
      "commands injected by opening its pipe for writing",
      `w = os.open("/proc/self/fd/%d" % COMMANDS, os.O_WRONLY); os.write(w, b'{"id": "forged", "cmd": "exec", "count": 9, "code": "injected = 1"}\\n'); "real"`,
      ALIVE,
    ],
    [
      "replies injected by opening their pipe for writing",
      `w = os.open("/proc/self/fd/%d" % ASIDE, os.O_WRONLY); os.write(w, b'{"cmd": "reply", "id": "{{EID}}", "call": 5, "value": 1}\\n'); "real"`,
      ALIVE,
    ],
    [
      "garbage sent to oneself",
      `w = os.open("/proc/self/fd/%d" % ASIDE, os.O_WRONLY); os.write(w, b'\\xff\\xff\\n'); time.sleep(5)`,
      DEAD,
    ],
    [
      "small pipes",
      `[fcntl.fcntl(n, 1031, 4096) for n in (1, 2, EVENTS, COMMANDS, ASIDE)]; print("x" * 500000); "real"`,
      ALIVE,
    ],
    [
      "large pipes",
      `for n in (1, 2, EVENTS, COMMANDS, ASIDE):\n    try: fcntl.fcntl(n, 1031, 1 << 20)\n    except OSError: pass\nprint("x" * 500000); "real"`,
      ALIVE,
    ],
    [
      "descriptors sent through the control socket",
      `s = socket.socket(fileno=os.dup(DOOR)); s.setblocking(False)\ntry:\n    while True: socket.send_fds(s, [b"s"], [0] * 100)\nexcept OSError: pass\n"real"`,
      { sibling_alive: true }, // the init ends it when it looks, kernel-objects.test.ts
    ],
    [
      "SIGSTOP sent by a child",
      `subprocess.run(["/bin/sh", "-c", "kill -STOP $PPID"]); time.sleep(0.1); "real"`,
      { max_ms: 4500 },
    ],
    ["exec of another program", `os.execv("/bin/sleep", ["sleep", "60"])`, { dead: true, max_ms: 4500 }],
  ] as [string, string, Check][])("%s", (id, code, check) =>
    // What must end by itself has time for it.
    hold(toProbe(id, code, { check, timeout: check === ALIVE ? 60_000 : 1500 }), prelude, stage),
  );

  describe("each descriptor in turn", () => {
    const names = ["0", "1", "2", "COMMANDS", "ASIDE", "EVENTS", "DOOR"];
    test.each(names)("%s closed", (fd) =>
      hold(toProbe(`close ${fd}`, `os.close(${fd}); 1`, { check: { max_ms: 4500 }, timeout: 1000 }), prelude, stage),
    );
    test.each(names)("%s replaced by /dev/null", (fd) =>
      hold(
        toProbe(`replace ${fd}`, `os.dup2(os.open("/dev/null", os.O_RDWR), ${fd}); 1`, {
          check: { max_ms: 4500 },
          timeout: 1000,
        }),
        prelude,
        stage,
      ),
    );
    // O_NONBLOCK is a flag of the open file description. The host's end of a pipe has its own.
    test.each(names)("%s made non-blocking, then much output", (fd) =>
      hold(
        toProbe(`nonblocking ${fd}`, `os.set_blocking(${fd}, False)\ntry: print("x" * 5000000)\nexcept OSError: pass`, {
          check: { max_ms: 4500 },
          timeout: 1000,
        }),
        prelude,
        stage,
      ),
    );
  });

  test(
    "a header without its payload holds up the execution until its time limit, no longer",
    { tags: "stress" },
    async () => {
      const code = `line({"type": "status", "id": "{{EID}}", "bytes": 1000000}); 1`;
      await hold(toProbe("payload missing", code, { timeout: 1000, check: { max_ms: 4500 } }), prelude, stage);
    },
  );

  test("stolen commands cost the session its state, not the caller's patience", { tags: "stress" }, async () => {
    await using session = await open();
    await session.execute(
      `import threading\nthreading.Thread(target=lambda: [os.read(COMMANDS, 65536) for _ in range(99)]).start()`,
    ).result;
    // The thief and the worker read the same pipe; eventually the thief wins.
    let result = await session.execute("1", { timeoutMs: 1000 }).result;
    for (let round = 0; round < 50 && result.status === "ok"; round += 1) {
      result = await session.execute("1", { timeoutMs: 1000 }).result;
    }
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "lost" });
    expect(await valueOf(session, "1+1")).toBe("2");
  });

  test("a full control socket does not block the renewal of output pipes", async () => {
    await using session = await open();
    await session.execute(`s = socket.socket(fileno=os.dup(DOOR)); s.settimeout(0.05)
try:
    while True: s.send(b"x" * 1000)
except OSError: pass
import threading; threading.Thread(target=time.sleep, args=(2,), daemon=True).start()`).result;
    expect(await valueOf(session, "1+1")).toBe("2");
  });

  test(
    "a worker that never takes its new output pipes is ended, and the next execution reports it",
    { tags: "stress" },
    async () => {
      await using session = await open();
      await session.execute(
        `line({"type": "status", "id": "${session.id}.2", "status": "ok", "survivors": True}); time.sleep(60)`,
      ).result;
      const next = await session.execute("1", { timeoutMs: 500 }).result;
      expect(next).toMatchObject({ status: "interrupted", reason: "timeout", state: "lost" });
      expect(await valueOf(session, "1+1")).toBe("2");
    },
  );

  test(
    "a worker that never takes its new output pipes can be given up by interrupt()",
    { tags: "stress" },
    async () => {
      await using session = await open();
      await session.execute(
        `line({"type": "status", "id": "${session.id}.2", "status": "ok", "survivors": True}); time.sleep(60)`,
      ).result;
      const next = session.execute("1", { timeoutMs: null });
      session.interrupt();
      expect(await next.result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
      expect(await session.execute("1").result).toMatchObject({ reason: "timeout", state: "lost" });
      expect(await valueOf(session, "1+1")).toBe("2");
    },
  );
});

describe("the host's memory", () => {
  test("20,000 calls whose replies nobody reads", () =>
    expectGrowth(
      `keep = os.dup(ASIDE); os.dup2(os.pipe()[0], ASIDE)
b = b"".join(b'{"type":"call","id":"{{EID}}","call":%d,"name":"x","args":{}}\\n' % i for i in range(1000))
for i in range(20): os.write(EVENTS, b)`,
      64,
    ));

  test("two million calls whose replies nobody reads", { tags: "stress" }, () =>
    expectGrowth(
      `keep = os.dup(ASIDE); os.dup2(os.pipe()[0], ASIDE)
b = b"".join(b'{"type":"call","id":"{{EID}}","call":%d,"name":"%s","args":{}}\\n' % (i, b"n" * 200) for i in range(1000))
for i in range(2000): os.write(EVENTS, b)`,
      160,
    ),
  );

  test("a call with 10 MB of arguments", () =>
    expectGrowth(`import rlm_host\nT(lambda: rlm_host.call("x", a="y" * 10_000_000))`, 128));

  // 64 MiB of arguments are kept. The rest is parsed text that waits for garbage collection.
  test("18 calls of 30 MB that are all waiting", { tags: "stress" }, () =>
    expectGrowth(
      `for i in range(18):
    b = b'{"type":"call","id":"{{EID}}","call":%d,"name":"wait","args":{"a":"' % i + b"y" * 30_000_000 + b'"}}'
    os.write(EVENTS, b'{"type":"call","id":"{{EID}}","call":%d,"bytes":%d}\\n' % (i, len(b)))
    for j in range(0, len(b), 65536): os.write(EVENTS, b[j:j+65536])`,
      400,
    ),
  );

  test("displays without end", { tags: "stress" }, () =>
    expectGrowth(
      `b = b'{"type":"display","id":"{{EID}}","call":1,"data":{"text/plain":"' + b"y" * 60000 + b'"}}\\n'
for i in range(10000): os.write(EVENTS, b)`,
      200,
    ),
  );

  test("a million calls are not all remembered", { tags: "stress" }, () =>
    expectGrowth(
      `b = b"".join(b'{"type":"call","id":"{{EID}}","call":%d,"name":"x","args":{}}\\n' % i for i in range(1000))
for i in range(1000): os.write(EVENTS, b)`,
      160,
    ),
  );

  test("a payload that comes byte by byte", () =>
    expectGrowth(
      `os.write(EVENTS, b'{"type":"status","id":"{{EID}}","bytes":33554432}\\n')
for i in range(400000): os.write(EVENTS, b" ")
os._exit(0)`,
      64,
    ));

  test("output that comes byte by byte", () => expectGrowth(`for i in range(400000): os.write(1, b" ")`, 64));

  test("a payload announced and never sent, in 20 sessions", async () => {
    const before = liveMiB();
    const sessions = await Promise.all(Array.from({ length: 20 }, open));
    const code = (id: string): string => `line({"type": "status", "id": "${id}.2", "bytes": 33554432}); time.sleep(60)`;
    for (const session of sessions) session.execute(code(session.id));
    await valueOf(stage.sibling, "1");
    expect(liveMiB() - before).toBeLessThan(64);
    await Promise.all(sessions.map((session) => session.close()));
  });
});

test("names that every object has are ordinary names, and pollute nothing", async () => {
  await using session = await open();
  const forged = await session.execute(
    `line(b'{"type":"status","id":"${session.id}.2","status":"ok","value":{"__proto__":"x","constructor":"y"},"__proto__":{"polluted":1}}'); time.sleep(0.1)`,
  ).result;
  expect(forged.status).toBe("ok");
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(await valueOf(session, "1+1")).toBe("2");
});

test("a session that keeps old output pipes open does not use up the host's descriptors", async () => {
  const { readdirSync } = await import("node:fs");
  const count = (): number => readdirSync("/proc/self/fd").length;
  await using session = await open();
  const before = count();
  // Each round, a process holds on to one more generation of pipes.
  for (let i = 0; i < 60; i += 1) {
    await session.execute(`subprocess.Popen(["sleep", "60"]); None`).result;
  }
  expect(count() - before).toBeLessThan(80);
  expect(await valueOf(session, "1+1")).toBe("2");
});

async function open(): Promise<Session> {
  const session = await stage.runtime.openSession({
    onCall: ({ name, signal }) =>
      name === "wait"
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))))
        : Promise.reject(new Error("refused")),
  });
  (await session.execute(prelude).result).unwrap();
  return session;
}

async function valueOf(session: Session, code: string): Promise<string | undefined> {
  return (await session.execute(code, { timeoutMs: 20_000 }).result).value?.["text/plain"];
}

/** Runs code and checks how much this process grew by meanwhile. */
async function expectGrowth(code: string, maxMiB: number): Promise<void> {
  await using session = await open();
  const expanded = code.replaceAll("{{EID}}", `${session.id}.2`);
  const growth = await growthDuring(() => session.execute(`${expanded}\nNone`, { timeoutMs: 8000 }).result);
  expect(growth, "MiB that the host grew by").toBeLessThan(maxMiB);
  expect(await valueOf(stage.sibling, "mark")).toBe("'untouched'");
  expect(await valueOf(session, "1+1")).toBe("2");
}
