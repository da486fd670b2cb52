// Variables read from outside: exactly the value, or a reason.

import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SessionClosedError, SessionStateError, VariableNotFoundError } from "../../../src/errors.ts";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

const MIB = 2 ** 20;
let runtime: Runtime;
let session: Session;

beforeAll(async () => {
  runtime = await openTestRuntime();
  session = await runtime.openSession({ includeStdlib: false });
});
afterAll(() => runtime?.close());

const define = async (code: string): Promise<void> => void (await session.execute(code).result).unwrap();
const json = async (): Promise<unknown> => JSON.parse((await session.get("x")).toString()) as unknown;

describe("as JSON", () => {
  test.each<[string, unknown]>([
    [
      "{'a': [1, -2.5, None, True, False, 'é😀\\u2028'], 'b': {}, 'c': [], 'd': ()}",
      { a: [1, -2.5, null, true, false, "é😀\u2028"], b: {}, c: [], d: [] },
    ],
    ["2**53 - 1", Number.MAX_SAFE_INTEGER],
    ["-(2**53 - 1)", Number.MIN_SAFE_INTEGER],
    ["''", ""],
    ["__import__('enum').IntEnum('E', 'A').A", 1],
    ["__import__('collections').OrderedDict(a=1)", { a: 1 }],
    ["'\\ud83d', '\\udcff'", ["\ud83d", "\udcff"]],
    ["{'\\udcff': 1}", { "\udcff": 1 }],
  ])("%s", async (code, value) => {
    await define(`x = ${code}`);
    expect(await json()).toEqual(value);
  });

  test.each<[string, string]>([
    ["2**53", "integer beyond 2**53"],
    ["[-2**53]", "integer beyond 2**53"],
    ["10**10000", "integer beyond 2**53"],
    ["{1: 2}", "it has a int as a key"],
    ["[float('nan')]", "NaN or an infinity"],
    ["{'a': float('-inf')}", "NaN or an infinity"],
    ["b'abc'", "it has a bytes in it"],
    ["[object()]", "it has a object in it"],
    ["[]; x.append(x)", "it contains itself"],
    ["[]\nfor _ in range(50_000): x = [x]", "it is nested too deeply"],
    ["type('D', (dict,), {'items': lambda self: 1 / 0})(a=1)", "division by zero"],
  ])("%s is refused with the reason", async (code, why) => {
    await define(`x = ${code}`);
    await expect(session.get("x")).rejects.toThrow(SessionStateError);
    await expect(session.get("x")).rejects.toThrow(why);
    await define("del x");
  });

  test("a value that refers to one object a billion times is refused without building it", async () => {
    await define("x = []\nfor _ in range(40): x = [x, x]");
    await expect(session.get("x", { maxBytes: MIB })).rejects.toThrow("it has more than 1048576 bytes");
    expect((await session.info()).epoch).toBe(1);
  });
});

describe("as text and bytes", () => {
  test("gives a str of any size, byte for byte", async () => {
    await define("x = 'aé😀\\0' * 500_000");
    const text = await session.get("x", { as: "text" });
    expect(text.equals(Buffer.from("aé😀\0".repeat(500_000)))).toBe(true);
  });

  test.each([
    ["bytes(range(256))", Buffer.from(Array.from({ length: 256 }, (_, n) => n))],
    ["bytearray(b'abc')", Buffer.from("abc")],
    ["memoryview(b'abcdef')[::2]", Buffer.from("ace")],
    ["memoryview(b'abcdef').cast('H')", Buffer.from("abcdef")],
    ["memoryview(b'abcdef').cast('B', (2, 3))", Buffer.from("abcdef")],
    ["b''", Buffer.alloc(0)],
    ["memoryview(b'')", Buffer.alloc(0)],
  ])("gives %s", async (code, bytes) => {
    await define(`x = ${code}`);
    expect(await session.get("x", { as: "bytes" })).toEqual(bytes);
  });

  test("streams a value that is larger than any pipe", async () => {
    await define("import hashlib; x = bytes(range(256)) * 400_000");
    const hash = createHash("sha256");
    await session.getInto("x", (piece) => hash.update(piece), { as: "bytes", maxBytes: 200 * MIB });
    const { value } = (await session.execute("hashlib.sha256(x).hexdigest()").result).unwrap();
    expect(value?.["text/plain"]).toBe(`'${hash.digest("hex")}'`);
  });

  test.each<[string, "text" | "bytes", string]>([
    ["5", "text", "it is a int, not a str"],
    ["b'abc'", "text", "it is a bytes, not a str"],
    ["'a' * 300_000 + '\\udcff'", "text", "half of a surrogate pair"],
    ["'abc'", "bytes", "it is a str, not bytes, a bytearray or a memoryview"],
    ["__import__('array').array('i', [1])", "bytes", "it is a array, not bytes"],
  ])("refuses %s as %s", async (code, as, why) => {
    await define(`x = ${code}`);
    await expect(session.get("x", { as })).rejects.toThrow(why);
  });
});

describe("limits", () => {
  test.each([
    ["[1, [], {}, 'é']", "json", Buffer.byteLength('[1,[],{},"é"]')],
    ["'é' * 300_000", "text", 600_000],
    ["b'abc'", "bytes", 3],
    ["b''", "bytes", 0],
  ] as const)("a value of exactly maxBytes is given, a larger one refused: %s", async (code, as, size) => {
    await define(`x = ${code}`);
    expect((await session.get("x", { as, maxBytes: size })).length).toBe(size);
    if (size === 0) return;
    const refused = session.get("x", { as, maxBytes: size - 1 });
    await expect(refused).rejects.toMatchObject({ code: "SESSION_STATE", why: `it has more than ${size - 1} bytes` });
  });

  test("what code in the session forges is bounded and counted on the host", async () => {
    const other = await runtime.openSession();
    // Code of the value writes more into the answer than the value has.
    const code = [
      "import sys",
      "class Evil(dict):",
      "    def items(self):",
      "        frame = sys._getframe()",
      "        while 'outgoing' not in frame.f_locals: frame = frame.f_back",
      "        frame.f_locals['outgoing'].write(bytes(self['size']))",
      "        return ()",
      "much, little = Evil(size=600_000), Evil(size=3)",
    ].join("\n");
    expect((await other.execute(code).result).status).toBe("ok");
    await expect(other.get("much", { maxBytes: 500_000 })).rejects.toThrow("more than 500000 bytes");
    await expect(other.get("little")).rejects.toThrow("the worker sent an invalid reply");
    await other.close();
  });

  test.each<[string, () => unknown]>([
    ["a name", () => session.get("no name")],
    ["a kind", () => session.get("x", { as: "xml" as never })],
    ["a size", () => session.get("x", { maxBytes: -1 })],
    ["a huge size", () => session.get("x", { maxBytes: 2 ** 31 })],
  ])("%s that is none throws at once", (_, call) => {
    expect(call).toThrow(/^Cannot /);
  });
});

describe("the queue", () => {
  test("a variable is read after the code that was queued before it, and an unknown one is not found", async () => {
    const slow = session.execute("import time; time.sleep(0.2); late = 7");
    expect((await session.get("late")).toString()).toBe("7");
    expect((await slow.result).status).toBe("ok");
    await expect(session.get("nothing")).rejects.toThrow(VariableNotFoundError);
    await expect(session.get("print")).rejects.toThrow(VariableNotFoundError);
  });

  test("stops at its time limit and when it is aborted; the state is kept", async () => {
    await define(
      "class Slow(dict):\n    def items(self):\n        print('here', flush=True)\n        while True: pass\nx, kept = Slow(a=1), 5",
    );
    await expect(session.get("x", { timeoutMs: 300 })).rejects.toThrow("it took longer than 300 ms");
    const controller = new AbortController();
    const heard = new Promise<void>((resolve) => {
      const listening = session.subscribe((event) => {
        if (event.type !== "background-delta") return;
        listening[Symbol.dispose]();
        resolve();
      });
    });
    const reading = session.get("x", { signal: controller.signal });
    await heard;
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect((await session.get("kept")).toString()).toBe("5");
  });

  test("a closed session refuses", async () => {
    const closed = await runtime.openSession();
    await closed.close();
    await expect(closed.get("x")).rejects.toThrow(SessionClosedError);
  });
});
