// Large messages of a worker must not hold up the host, whether it has asked for them or not.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");

/** Sends a message as a header and a payload. */
const SEND = `
def send(kind, id, fields):
    head = '{"type":"%s","id":"%s","call":7' % (kind, id)
    body = (head + "," + fields + "}").encode()
    os.write(EVENTS, (head + ',"bytes":%d}\\n' % len(body)).encode())
    for at in range(0, len(body), 65536): os.write(EVENTS, body[at:at+65536])
def call(value): send("call", ID, '"name":"x","args":{"value":%s}' % value)
LARGE = (32 << 20) - 200
`;

let stage: OpenStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

async function open(onCall: (value: unknown) => void = () => {}): Promise<Session> {
  const session = await stage.runtime.openSession({
    onCall: async ({ args }) => {
      onCall(args["value"]);
    },
  });
  (await session.execute(`${prelude}\n${SEND}\nID = "${session.id}.2"`).result).unwrap();
  return session;
}

/** The processor time of this thread, in milliseconds: the collection of garbage by other threads does not count. */
function threadMs(): number {
  return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ", 1)[0]) / 1e6;
}

/** The most processor time that one turn of the event loop took, in milliseconds. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  const over = work.then(() => "over");
  for (;;) {
    const before = threadMs();
    const turn = await Promise.race([over, new Promise<string>((resolve) => setImmediate(resolve, "turn"))]);
    longest = Math.max(longest, threadMs() - before);
    if (turn === "over") return longest;
  }
}

interface Large {
  /** Python that makes the JSON. */
  readonly code: string;
  readonly json: () => string;
}

const STRING: Large = {
  code: String.raw`'"%s"' % ('\\"' * (LARGE // 2))`,
  json: () => `"${String.raw`\"`.repeat(16_777_116)}"`,
};
const OBJECTS: Large = {
  code: `'[%s]' % ",".join('{"k%d":1}' % i for i in range(249000))`,
  json: () => `[${Array.from({ length: 249_000 }, (_, index) => `{"k${index}":1}`).join(",")}]`,
};

/** The processor time that it takes to parse a text at once. */
function parseMs(json: string): number {
  const before = threadMs();
  JSON.parse(json);
  return threadMs() - before;
}

describe("a large message", () => {
  test.each([
    ["a string of escapes", "status", "nobody", STRING],
    ["many objects, of an unknown type", "what", "{{ID}}", OBJECTS],
  ])("that nobody asked for is not parsed: %s", { tags: "stress" }, async (_, type, id, large) => {
    const atOnceMs = parseMs(large.json());
    await using session = await open();
    const code = `send("${type}", "${id.replace("{{ID}}", `${session.id}.2`)}", '"data":' + ${large.code})\n"real"`;
    const result = session.execute(code).result;
    expect(await longestTurn(result)).toBeLessThan(atOnceMs / 2);
    expect((await result).value).toEqual({ "text/plain": "'real'" });
  });

  test.each([
    ["a string of escapes", STRING],
    ["many objects", OBJECTS],
  ])("that is expected is parsed in slices: %s", { tags: "stress" }, async (_, large) => {
    const json = large.json();
    const atOnceMs = parseMs(json);
    let received: unknown;
    await using session = await open((sent) => (received = sent));
    const result = session.execute(`call(${large.code})\n"real"`).result;
    expect(await longestTurn(result)).toBeLessThan(atOnceMs / 2);
    expect((await result).value).toEqual({ "text/plain": "'real'" });
    expect(JSON.stringify(received) === json).toBe(true);
  });

  test("that has too many values ends its worker before all of it came", async () => {
    await using session = await open();
    const code = `
body = "[" + "{}," * 600000
os.write(EVENTS, b'{"type":"call","id":"%s","call":7,"bytes":33554432}\\n' % ID.encode())
for at in range(0, len(body), 65536): os.write(EVENTS, body[at:at+65536].encode())
time.sleep(60)`;
    const result = await session.execute(code).result;
    expect(result).toMatchObject({
      status: "interrupted",
      reason: "worker-lost",
      error: { name: "ProtocolViolation" },
    });
  });

  test("that nobody asked for ends its worker when there are too many bytes of it", { tags: "stress" }, async () => {
    await using session = await open();
    const code = `for _ in range(5): send("status", "nobody", '"status":"%s"' % ("x" * LARGE))\ntime.sleep(60)`;
    const result = await session.execute(code).result;
    expect(result).toMatchObject({
      status: "interrupted",
      reason: "worker-lost",
      error: { name: "ProtocolViolation" },
    });
    expect((await session.execute("1+1").result).value).toEqual({ "text/plain": "2" });
  });

  test("that displays something of an ended execution is dropped, and answered", async () => {
    await using session = await open();
    await session.execute(`import threading
go, done = threading.Event(), threading.Event()
def late():
    go.wait()
    display({"text/html": "x" * 1_000_000}, raw=True)
    done.set()
threading.Thread(target=late).start()`).result;
    const { value, displays } = await session.execute("go.set(); done.wait(60)").result;
    expect({ value, displays }).toEqual({ value: { "text/plain": "True" }, displays: [] });
  });
});
