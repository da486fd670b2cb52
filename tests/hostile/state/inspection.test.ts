// A session that lies about its namespace or does not answer: the host gets nonsense or nothing, and stays unharmed.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InspectionError, type Session } from "../../internals.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
/** User code owns the process, and so the object that replies. */
const FORGE = `
import gc
requests = next(found for found in gc.get_objects() if type(found).__name__ == "InspectionRequests")
def forge(answer):
    requests._question = lambda message: (answer, None)
`;

let stage: OpenStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

async function open(code: string): Promise<Session> {
  const session = await stage.runtime.openSession();
  (await session.execute(`${prelude}\n${FORGE}\n${code}`).result).unwrap();
  return session;
}

async function expectUnharmed(session: Session): Promise<void> {
  expect(await textOf(session, "1+1")).toBe("2");
  expect(await textOf(stage.sibling, "mark")).toBe("'untouched'");
}

async function textOf(session: Session, code: string): Promise<unknown> {
  return (await session.execute(code).result).value?.["text/plain"];
}

describe("a forged answer", () => {
  test.each([
    ["no object", "7"],
    ["nothing", "{}"],
    ["a list", "[1, 2]"],
    [
      "the wrong types",
      `{"found": True, "type": 7, "kind": [], "variables": "x", "total": "1", "matches": {}, "signature": 1}`,
    ],
    [
      "a million names",
      `{"total": 10**6, "variables": ["x"] * 10**6, "matches": ["x"] * 10**6, "variableCount": 10**6}`,
    ],
    ["what JSON cannot say", `{"type": object(), "variables": {1: object()}}`],
  ])("%s is an error of the question, or an answer without facts", (_, answer) => expectNoFacts(answer));

  test.each([
    ["40 MB of text", `{"type": "x" * 40_000_000, "variables": ["x" * 40_000_000], "matches": "x" * 40_000_000}`],
    ["20 MB of text", `{"type": "x" * 20_000_000, "variables": ["x" * 20_000_000], "matches": "x" * 20_000_000}`],
  ])("%s is an error of the question, or an answer without facts", { tags: "stress" }, (_, answer) =>
    expectNoFacts(answer),
  );

  async function expectNoFacts(answer: string): Promise<void> {
    await using session = await open(`forge(${answer})`);
    const answers = await Promise.allSettled([
      session.variables(),
      session.inspect("x"),
      session.complete("x", 1),
      session.signature("x(", 2),
    ]);
    for (const found of answers) {
      if (found.status === "rejected") expect(found.reason).toHaveProperty("code");
      else expect(JSON.stringify(found.value).length).toBeLessThan(1000);
    }
    await session.info();
    // A message beyond the protocol's limits ends the worker, and with it what runs when the message has been read: on a busy machine
    // later than its question has failed. The session continues with a new one.
    await expect.poll(() => textOf(session, "1+1")).toBe("2");
    expect(await textOf(stage.sibling, "mark")).toBe("'untouched'");
  }

  test("for another question, or for none, is ignored", async () => {
    await using session = await open("x = 1");
    const forged = await session.execute(
      `for i in range(1, 500): line({"type": "status", "id": "ask/%d" % i, "status": "ok", "data": {"found": False}})`,
    ).result;
    expect(forged.status).toBe("ok");
    expect((await session.inspect("x"))?.repr?.text).toBe("1");
    await expectUnharmed(session);
  });

  test("written into the pipe of its fork by a __repr__ changes that answer alone", async () => {
    await using session = await open(`
class C:
    def __repr__(self):
        forged = b'{"repr": {"text": "forged", "total": 6}, "kind": 7}\\n' + b"[" * 100_000 + b"\\nnull\\n\\xff\\n\\n"
        for fd in range(3, 512):
            try: os.write(fd, forged)
            except OSError: pass
        return "c"
c = C(); x = 1`);
    await session.inspect("c").catch((error: unknown) => expect(error).toBeInstanceOf(InspectionError));
    expect((await session.inspect("x"))?.repr?.text).toBe("1");
    await expectUnharmed(session);
  });

  test("without end in the pipe of its fork is cut", async () => {
    await using session = await open(`
class C:
    def __repr__(self):
        while True:
            for fd in range(3, 512):
                try: os.write(fd, b"x" * 65536)
                except OSError: pass
c = C()`);
    expect(await session.inspect("c", { timeoutMs: 20_000 })).toMatchObject({ type: "C", incomplete: "crashed" });
    await expectUnharmed(session);
  });
});

test(
  "a session that answers no queries costs its callers their time limit, and the host nothing",
  { tags: "stress" },
  async () => {
    await using session = await open("os.dup2(os.pipe()[0], ASIDE)");
    const asked = await Promise.allSettled(Array.from({ length: 100 }, () => session.variables()));
    for (const { status } of asked) expect(status).toBe("rejected");
    // The worker is known not to answer by now, so no further request is sent.
    await expect(session.variables()).rejects.toThrow("the running code holds the interpreter");
    expect(await session.info()).toMatchObject({ variableCount: null });
    await expectUnharmed(session);
  },
);
