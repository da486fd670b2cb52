// Hostile displays: they may harm their session, never the host or other sessions.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { growthDuring, liveMiB } from "../live-memory.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

/** Runs code; the session must survive it. */
async function survive(session: Session, code: string, timeoutMs = 20_000) {
  const result = await session.execute(code, { timeoutMs }).result;
  expect(await session.execute("1 + 1").result).toMatchObject({ status: "ok", value: { "text/plain": "2" } });
  return result;
}

const THING = "class Thing:\n    def __repr__(self): return 'thing'\n";

test.each([
  ["numbers", "def _repr_html_(self): return 7"],
  ["lists", "def _repr_html_(self): return ['<b>']"],
  ["bytes that are no text", "def _repr_html_(self): return b'\\xff\\xfe'"],
  ["objects", "def _repr_json_(self): return object()"],
  ["itself", "def _repr_json_(self):\n        a = []; a.append(a); return a"],
  [
    "a bundle with keys that are no strings",
    "def _repr_mimebundle_(self, **o): return {1: 'x', None: 'y', ('a',): 'z'}",
  ],
  ["a bundle that is none", "def _repr_mimebundle_(self, **o): return [1]"],
  ["a bundle with endless names", "def _repr_mimebundle_(self, **o): return {'x' * 100000: 'x'}"],
  ["recursion", "def _repr_html_(self): return self._repr_html_()"],
  ["a display of itself", "def _repr_html_(self): display(self)"],
  ["a lie about its class", "__class__ = property(lambda self: 1/0)"],
])("a representation that is %s loses nothing but itself", async (_, method) => {
  await using session = await runtime.openSession();
  const result = await survive(session, `${THING}    ${method}\nThing()`);
  expect(result).toMatchObject({ status: "ok", value: { "text/plain": "thing" } });
  expect(Object.keys(result.value ?? {})).toEqual(["text/plain"]);
});

test("lone surrogates and names that every object has are ordinary data", async () => {
  await using session = await runtime.openSession();
  const code = `${THING}    def _repr_mimebundle_(self, **o): return {'__proto__': 'x', 'constructor': 'y', 'text/html': '\\ud800'}\nThing()`;
  const { value } = await survive(session, code);
  expect(value?.["text/html"]).toBe("\uD800");
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
});

describe("size", () => {
  test("100 MB of HTML is left out and named, as a value and as a display", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const code = `${THING}    def _repr_html_(self): return 'x' * 100_000_000\ndisplay(Thing())\nThing()`;
    const { value, displays } = await survive(session, code);
    const omitted = "application/vnd.rlm.omitted+json";
    for (const bundle of [value, displays[0]]) {
      expect(Object.keys(bundle ?? {})).toEqual(["text/plain", omitted]);
      expect(JSON.parse(bundle?.[omitted] ?? "")).toEqual([{ type: "text/html", bytes: 100_000_000 }]);
    }
  });

  test("text that grows when it is written down is measured as it is written", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const code = `${THING}    def _repr_html_(self): return '\\0' * (15 << 20)\n    def _repr_latex_(self): return 'l'\nThing()`;
    const { value } = await survive(session, code);
    expect(Object.keys(value ?? {})).toEqual(["text/plain", "text/latex", "application/vnd.rlm.omitted+json"]);
  });

  test("a bundle of a million types is cut", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const code = `${THING}    def _repr_mimebundle_(self, **o): return {f'x/{i}': 'x' for i in range(1_000_000)}\nThing()`;
    const { value } = await survive(session, code);
    expect(Object.keys(value ?? {})).toHaveLength(65);
  });
});

describe("without end", () => {
  test("displays are stopped by the time limit and cost the host a bounded amount", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const before = liveMiB();
    let result: Awaited<ReturnType<typeof survive>>;
    let timeoutMs = 1000;
    do {
      timeoutMs *= 2; // a slow machine needs longer for more than are kept
      result = await survive(session, "while True: display('x' * 10_000)", timeoutMs);
      expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "kept" });
    } while (result.truncated?.displays === undefined);
    expect(result.displays).toHaveLength(1000);
    expect(result.truncated.displays.omitted).toBeGreaterThan(0);
    // A thousand of them, as events and in the result, here and in the rounds before.
    expect(liveMiB() - before).toBeLessThan(100);
  });

  test("updates and clears are bounded too", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const before = liveMiB();
    const code =
      "from rlm_display import clear_output\nh = display('', display_id=True)\n" +
      "for i in range(200): h.update('x' * 1_000_000); clear_output(); h = display('y' * 1_000_000, display_id=True)";
    const { displays } = await survive(session, code);
    expect(displays).toHaveLength(1);
    expect(liveMiB() - before).toBeLessThan(100);
  });

  test("displays of concurrent threads all arrive", async () => {
    await using session = await runtime.openSession();
    const code =
      "import threading\ndef some():\n    for i in range(10): display('x' * 70_000)\n" +
      "threads = [threading.Thread(target=some) for _ in range(20)]\n[t.start() for t in threads]; [t.join() for t in threads]\n0";
    expect((await survive(session, code)).displays).toHaveLength(200);
  });
});

describe("forged", () => {
  const events =
    "import os, json, sys\n" +
    "EVENTS = next(c for c in sys.modules['gc'].get_objects() if type(c).__name__ == 'Writer').fd\n" +
    "def forge(**event): os.write(EVENTS, json.dumps({'type': 'display', **event}).encode() + b'\\n')\n";

  test("displays for another session or another execution reach nobody", async () => {
    await using session = await runtime.openSession({ id: "forger" });
    await using other = await runtime.openSession({ id: "victim" });
    await survive(session, `import gc\n${events}`);
    const running = other.execute("import time; time.sleep(0.3)");
    const result = await survive(
      session,
      "for name in ('victim.1', 'forger.1', 'forger.99', '', '__proto__'): forge(id=name, call=1, data={'text/plain': 'forged'})",
    );
    expect([result.displays, (await running.result).displays]).toEqual([[], []]);
  });

  test("acknowledgements that nobody waits for are dropped on both sides", async () => {
    await using session = await runtime.openSession({ id: "eager" });
    await survive(session, `import gc\n${events}`);
    const code = "for i in range(3000): forge(id='eager.3', call=i, data={'text/plain': str(i)})\ndisplay('true')";
    const { displays } = await survive(session, code);
    expect(displays).toHaveLength(1000);
  });

  test("a worker that reads no acknowledgements is ended before they fill the host", async () => {
    await using session = await runtime.openSession({ id: "deaf" });
    await survive(session, `import gc\n${events}`);
    const aside =
      "ASIDE = next(c for c in gc.get_objects() if type(c).__name__ == 'Listener')._reader.fd\n" +
      "os.dup2(os.pipe()[0], ASIDE)\nline = b''.join(json.dumps({'type': 'display', 'id': 'deaf.3', 'call': i, 'data': {}}).encode() + b'\\n' for i in range(1000))\n" +
      "while True: os.write(EVENTS, line)";
    const growth = await growthDuring(async () => {
      const result = await session.execute(aside, { timeoutMs: null }).result;
      expect(result).toMatchObject({ status: "interrupted", reason: "worker-lost", state: "lost" });
    });
    expect(growth).toBeLessThan(100);
  });
});
