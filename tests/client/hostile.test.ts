// Servers that send what no server should. Nothing may grow without end, and nothing unchecked may reach a caller.

import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import {
  beginEvents,
  collect,
  failureOf,
  openFake,
  sendJSON,
  SESSION,
  toMessage,
  type Answer,
} from "./fakes/fake-server.ts";

const MIB = Buffer.alloc(1024 * 1024, "x");

/** Writes until the client leaves. Resolves with how much was written. */
function pour(response: ServerResponse, first = ""): Promise<number> {
  let total = 0;
  response.write(first);
  return new Promise((resolve) => {
    const write = (): void => {
      while (!response.destroyed && response.write(MIB)) total += MIB.length;
      total += MIB.length;
    };
    response.on("drain", write).on("close", () => resolve(total));
    write();
  });
}

async function openSession(answer: Answer) {
  const fake = await openFake((request, response) => {
    if (request.path === "/v1/sessions" && request.method === "POST") sendJSON(response, SESSION);
    else answer(request, response);
  });
  const runtime = await fake.connect();
  return {
    fake,
    runtime,
    session: await runtime.openSession(),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}

describe("a hostile server", () => {
  test("that sends JSON without an end is left", async () => {
    let poured: Promise<number> | undefined;
    await using open = await openSession((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      poured = pour(response, '"');
    });
    const error = await failureOf(open.session.info());
    expect(error).toMatchObject({ name: "ServerConnectionError", fault: "configuration" });
    expect(error.message).toContain("its response is too large");
    expect(await poured).toBeLessThan(40 * MIB.length);
  });

  test("that sends much where nothing is needed is not an error", async () => {
    let poured: Promise<number> | undefined;
    await using open = await openSession((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      poured = pour(response, '"');
    });
    await open.session.set("x", { json: 1 });
    expect(await poured).toBeLessThan(40 * MIB.length);
  });

  test("that announces too much is not read", async () => {
    await using open = await openSession((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": String(2 ** 40) });
      response.write("{");
    });
    expect((await failureOf(open.session.info())).message).toContain("too large");
  });

  test("that sends a problem without an end is left", async () => {
    await using open = await openSession((_, response) => {
      response.writeHead(404, { "content-type": "application/problem+json" });
      void pour(response, '"');
    });
    expect((await failureOf(open.session.info())).message).toContain("too large");
  });

  test("that sends an event without an end is left", { tags: "stress" }, async () => {
    let poured: Promise<number> | undefined;
    await using open = await openSession((_, response) => {
      poured = pour(beginEvents(response), "data: ");
    });
    const error = await failureOf(collect(open.session.execute("1")));
    expect(error.message).toContain("it sends an event without an end");
    expect(await poured).toBeLessThan(600 * MIB.length);
  });

  test.each([
    ["text that is no JSON", "event: output-delta\ndata: {\n\n"],
    ["an event without its fields", toMessage("1", { type: "output-delta" })],
    ["a result that is none", toMessage("1", { type: "execution-end", result: { status: "ok" } } as never)],
  ])("that streams %s is refused", async (_, text) => {
    await using open = await openSession((__, response) => void beginEvents(response).end(text));
    const error = await failureOf(collect(open.session.execute("1")));
    expect(error).toMatchObject({ name: "ServerConnectionError", fault: "configuration" });
  });

  test("that streams what this version does not know is understood", async () => {
    await using open = await openSession((_, response) => {
      beginEvents(response).end(
        toMessage("1", { type: "from-the-future" }) +
          toMessage("2", { type: "execution-failed", problem: { status: 500, code: "X", detail: "why" } } as never),
      );
    });
    expect(await failureOf(collect(open.session.execute("1")))).toMatchObject({
      name: "ServerRefusedError",
      problem: "X",
      status: 500,
    });
  });

  test("that answers with another type in place of events is refused", async () => {
    await using open = await openSession((_, response) => sendJSON(response, {}));
    expect((await failureOf(open.session.execute("1"))).message).toContain("in place of events");
  });

  test("that answers with other shapes is refused, whatever was called", async () => {
    await using open = await openSession((_, response) => sendJSON(response, { a: [1], __proto__: { b: 1 } }));
    const { session, runtime } = open;
    const calls = [
      () => session.info(),
      () => session.history(),
      () => session.variables(),
      () => session.inspect("x"),
      () => session.complete("x", 1),
      () => session.signature("x", 1),
      () => session.checkpoint(),
      () => session.checkpoints(),
      () => session.rewind("c"),
      () => session.fork(),
      () => session.reset(),
      () => session.interrupt(),
      () => session.close(),
      () => session.output("x"),
      () => session.files.stat("x"),
      () => session.files.list("x"),
      () => session.files.write("x", "y"),
      () => session.files.rename("x", "y"),
      () => runtime.info(),
      () => runtime.sessions.list(),
      () => runtime.sessions.get("s"),
      () => runtime.tasks.list(),
      () => runtime.tasks.get("t").info(),
      () => runtime.runs.list(),
      () => runtime.runs.get("r"),
      () => runtime.executions.get("x"),
      () => runtime.stdlib.list(),
      () => runtime.stdlib.add("x"),
    ];
    const isVersion = (call: () => unknown): boolean => String(call).includes("runtime.info");
    for (const call of calls) {
      if (isVersion(call)) continue;
      expect(await failureOf(call()), String(call)).toMatchObject({
        name: "ServerConnectionError",
        fault: "configuration",
      });
    }
  });

  test("cannot forge fields of errors", async () => {
    await using open = await openSession((_, response) => {
      const facts =
        '{"__proto__":{"polluted":1},"sessionId":{"x":1},"message":"forged","stack":"forged","code":"OTHER","extra":1}';
      response
        .writeHead(404, { "content-type": "application/problem+json" })
        .end(`{"status":404,"code":"SESSION_NOT_FOUND","detail":"real","facts":${facts}}`);
    });
    const error = await failureOf(open.session.info());
    expect(Object.fromEntries(Object.entries(error))).toEqual({ code: "SESSION_NOT_FOUND", sessionId: "" });
    expect(error.message).toBe("real");
    expect(error.stack).toMatch(/^SessionNotFoundError: real\n {4}at /);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("that is silent is given up", async () => {
    await using open = await openSession(() => {});
    const { clock } = open.fake;
    const failure = failureOf(open.session.info());
    const pass = setInterval(() => clock.isWaiting && clock.passSilence());
    await failure;
    clearInterval(pass);
    expect(await failure).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
  });
});
