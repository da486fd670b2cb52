import { describe, expect, test } from "vitest";
import type { Runtime } from "../../src/api/runtime.ts";
import type { Session } from "../../src/api/session.ts";
import { ExecutionNotFoundError, SessionBusyError } from "../../src/errors.ts";
import {
  beginEvents,
  collect,
  delta,
  END,
  executionView,
  failureOf,
  openFake,
  RESULT,
  sendJSON,
  sendProblem,
  SESSION,
  START,
  toMessage,
  type Answer,
  type FakeServer,
} from "./fakes/fake-server.ts";

const EVENTS = [START, delta("a"), delta("é"), delta("c"), END];

/** A server with a session whose executions are answered by the test. */
async function openSession(answer: Answer): Promise<FakeServer & { session: Session; runtime: Runtime }> {
  const fake = await openFake((request, response) => {
    if (request.path === "/v1/sessions") sendJSON(response, SESSION);
    else answer(request, response);
  });
  const runtime = await fake.connect();
  const session = await runtime.openSession();
  fake.requests.length = 0;
  return Object.assign(fake, { session, runtime });
}

const toLine = ({ method, path, headers }: FakeServer["requests"][number]): string =>
  [method, path, headers["last-event-id"]].filter(Boolean).join(" ");

describe("an execution", () => {
  test("is awaited with one request", async () => {
    await using fake = await openSession((_, response) => {
      beginEvents(response).end(EVENTS.map((event, index) => toMessage(`${index}`, event)).join(""));
    });
    const execution = fake.session.execute("1", { timeoutMs: Infinity });
    expect(execution.id).toMatch(/^x-[0-9a-f]{16}$/);
    const result = await execution;
    expect({ ...result }).toEqual(RESULT);
    expect(result.text).toBeUndefined();
    expect(await execution).toBe(result);
    expect(fake.requests.map(toLine)).toEqual(["POST /v1/sessions/s/execute"]);
    expect(JSON.parse(fake.requests[0]?.body ?? "")).toEqual({ code: "1", timeoutMs: null, id: execution.id });
    expect(Object.prototype.toString.call(execution)).toBe("[object Execution]");
  });

  test("is iterated with one request, and again from the beginning with another", async () => {
    await using fake = await openSession((_, response) => {
      beginEvents(response).end(EVENTS.map((event, index) => toMessage(`${index}`, event)).join(""));
    });
    const execution = fake.session.execute("1", { id: "mine" });
    expect(await collect(execution)).toEqual(EVENTS);
    expect((await execution).stdout).toBe("abc");
    expect(await Promise.all([collect(execution), collect(execution)])).toEqual([EVENTS, EVENTS]);
    expect(fake.requests.map(toLine)).toEqual([
      "POST /v1/sessions/s/execute",
      "GET /v1/executions/mine/events",
      "GET /v1/executions/mine/events",
    ]);
  });

  test("that nobody observes is started without a stream, and can be awaited later", async () => {
    let isOver = false;
    await using fake = await openSession(({ method }, response) => {
      if (method === "POST") return sendJSON(response, executionView("waiting"), 202);
      sendJSON(response, executionView(isOver ? "ended" : "running"));
      isOver = true;
    });
    const execution = fake.session.execute("1", { id: "x1" });
    await expect.poll(() => fake.requests.length).toBe(1);
    expect(fake.requests[0]?.headers["prefer"]).toBe("respond-async");
    expect((await execution).status).toBe("ok");
    expect(fake.requests.map(toLine).slice(1)).toEqual(Array(2).fill("GET /v1/executions/x1?waitMs=30000"));
  });

  test("continues wherever its connection is cut, with no event lost or repeated", { tags: "stress" }, async () => {
    const whole = Buffer.from(
      `: still here\n\n${EVENTS.map((event, index) => toMessage(`p${index}`, event)).join("")}`,
    );
    let at = 0;
    await using fake = await openSession(({ method, headers }, response) => {
      beginEvents(response);
      if (method === "POST") return void response.write(whole.subarray(0, at), () => response.destroy());
      const cursor = headers["last-event-id"];
      const rest = EVENTS.map((event, index) => toMessage(`p${index}`, event));
      response.end(rest.slice(cursor === undefined ? 0 : Number(String(cursor).slice(1)) + 1).join(""));
    });
    for (; at < whole.length; at += 1) {
      fake.requests.length = 0;
      expect(await collect(fake.session.execute("1")), `cut at ${at}`).toEqual(EVENTS);
      expect(fake.requests.length).toBeLessThanOrEqual(2);
    }
  });

  test("is cut after every event and still complete", async () => {
    await using fake = await openSession(({ headers }, response) => {
      const next = headers["last-event-id"] === undefined ? 0 : Number(headers["last-event-id"]) + 1;
      const event = EVENTS[next];
      beginEvents(response).write(event === undefined ? "" : toMessage(`${next}`, event), () => response.destroy());
    });
    expect(await collect(fake.session.execute("1"))).toEqual(EVENTS);
    expect(fake.requests.map(toLine).map((line) => line.split(" ")[2])).toEqual([undefined, "0", "1", "2", "3"]);
    // Progress begins the pauses anew.
    expect(fake.clock.pauses).toEqual([100, 100, 100, 100]);
    expect(fake.warnings).toHaveLength(4);
  });

  test("closes the connection when its reader leaves while it waits for an event", async () => {
    let isClosed = false;
    await using fake = await openSession((_, response) => {
      response.on("close", () => (isClosed = true));
      beginEvents(response).write(toMessage("0", START));
    });
    const iterator = fake.session.execute("1")[Symbol.asyncIterator]();
    await iterator.next();
    const next = iterator.next();
    await iterator.return?.(undefined);
    expect(await next).toEqual({ done: true, value: undefined });
    await expect.poll(() => isClosed).toBe(true);
    expect(fake.clock.pauses).toEqual([]);
  });

  test("is given up when nothing new comes for a minute", async () => {
    await using fake = await openSession((_, response) => {
      beginEvents(response).write(toMessage("0", START), () => response.destroy());
    });
    fake.requests.length = 0;
    const iterator = fake.session.execute("1")[Symbol.asyncIterator]();
    await iterator.next();
    // The server repeats an event that has the cursor already: no progress, but an event all the same.
    await iterator.return?.(undefined);

    await using silent = await openSession((_, response) => {
      beginEvents(response).write(": still here\n\n", () => response.destroy());
    });
    const error = await failureOf(collect(silent.session.execute("1")));
    expect(error).toMatchObject({ name: "ServerConnectionError", fault: "connection", url: silent.url });
    expect(error.message).toMatch(/\(tried for 60 s\)$/);
    expect(silent.clock.pauses.reduce((sum, ms) => sum + ms)).toBe(60_000);
  });

  test("is resumed when the connection is half open", async () => {
    await using fake = await openSession(({ method }, response) => {
      beginEvents(response);
      if (method === "POST") response.write(toMessage("0", START));
      else
        response.end(
          EVENTS.slice(1)
            .map((event, index) => toMessage(`${index + 1}`, event))
            .join(""),
        );
    });
    const iterator = fake.session.execute("1")[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual(START);
    const next = iterator.next();
    await expect.poll(() => fake.clock.isWaiting).toBe(true);
    fake.clock.passSilence();
    expect((await next).value).toEqual(EVENTS[1]);
    expect(toLine(fake.requests[1] as never)).toMatch(/events 0$/);
  });

  test("waits out refusals of proxies and of a busy server", async () => {
    const answers = [502, 503, 504, 429];
    await using fake = await openSession((_, response) => {
      const status = answers.shift();
      if (status === 429) response.setHeader("retry-after", "7");
      if (status === 429) sendProblem(response, 429, "RATE_LIMITED");
      else if (status !== undefined) response.writeHead(status, { "content-type": "text/html" }).end("proxy");
      else beginEvents(response).end(toMessage("4", END));
    });
    expect((await fake.session.execute("1")).status).toBe("ok");
    expect(fake.clock.pauses).toEqual([100, 200, 400, 7000]);
    const bodies = new Set(fake.requests.map(({ body }) => body));
    expect(bodies.size).toBe(1);
  });

  test("ends where the token stops being valid, also in the middle", async () => {
    await using fake = await openSession(({ method }, response) => {
      if (method === "GET") return sendProblem(response, 401, "UNAUTHORIZED");
      beginEvents(response).write(toMessage("0", START), () => response.destroy());
    });
    const execution = fake.session.execute("1");
    const events: unknown[] = [];
    const error = await failureOf(
      (async () => {
        for await (const event of execution) events.push(event);
      })(),
    );
    expect(events).toEqual([START]);
    expect(error).toMatchObject({ fault: "configuration", message: `The server at ${fake.url} rejected the token` });
    expect(await failureOf(execution)).toMatchObject({ fault: "configuration" });
  });

  test("rejects with what the server says after a restart", async () => {
    await using fake = await openSession(({ method }, response) => {
      if (method === "GET") return sendProblem(response, 404, "EXECUTION_NOT_FOUND", { facts: { executionId: "x1" } });
      beginEvents(response).write(toMessage("0", START) + toMessage(undefined, { type: "server-end" }), () =>
        response.destroy(),
      );
    });
    const error = await failureOf(fake.session.execute("1"));
    expect(error).toBeInstanceOf(ExecutionNotFoundError);
    expect(error).toMatchObject({ executionId: "x1", message: "As it is", code: "EXECUTION_NOT_FOUND" });
  });

  test("rejects at once where the session is busy", async () => {
    await using fake = await openSession((_, response) => {
      response.setHeader("retry-after", "1");
      sendProblem(response, 429, "SESSION_BUSY", { facts: { sessionId: "s", waiting: 128 } });
    });
    const error = await failureOf(fake.session.execute("1"));
    expect(error).toBeInstanceOf(SessionBusyError);
    expect(error).toMatchObject({ sessionId: "s", waiting: 128 });
    expect(fake.requests).toHaveLength(1);
  });

  test("that the session could not run rejects and throws", async () => {
    const problem = { status: 410, code: "SESSION_CLOSED", detail: "gone", facts: { sessionId: "s" } };
    await using fake = await openSession((_, response) => {
      beginEvents(response).end(
        toMessage(undefined, { type: "execution-failed", executionId: "x1", problem } as never),
      );
    });
    const execution = fake.session.execute("1");
    expect(await failureOf(collect(execution))).toMatchObject({ name: "SessionClosedError", sessionId: "s" });
    expect(await failureOf(execution)).toMatchObject({ name: "SessionClosedError" });
    expect(fake.requests).toHaveLength(1);
  });

  test("that fails unobserved raises nothing", async () => {
    const raised: unknown[] = [];
    const note = (error: unknown): void => void raised.push(error);
    process.on("unhandledRejection", note);
    try {
      await using fake = await openSession((_, response) => sendProblem(response, 404, "SESSION_NOT_FOUND"));
      void fake.session.execute("1");
      void fake.session.shell("x");
      void fake.runtime.rlm().run({ query: "?" });
      void fake.session.execute("2", { signal: AbortSignal.abort() });
      await expect.poll(() => fake.requests.length).toBe(3);
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      expect(raised).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  test("leaving the loop closes the connection and lets the code run", async () => {
    let isClosed = false;
    await using fake = await openSession((_, response) => {
      response.on("close", () => void (isClosed = true));
      beginEvents(response).write(toMessage("0", START));
    });
    for await (const event of fake.session.execute("1")) {
      expect(event).toEqual(START);
      break;
    }
    await expect.poll(() => isClosed).toBe(true);
    expect(fake.requests).toHaveLength(1);
  });
});

describe("an abort signal", () => {
  test("that is aborted already rejects with its reason, and nothing is sent", async () => {
    await using fake = await openSession(() => {});
    const reason = new Error("why");
    expect(await failureOf(fake.session.execute("1", { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(fake.requests).toEqual([]);
  });

  test("cancels the execution on the server, which says how it ended", async () => {
    const interrupted = { ...RESULT, status: "interrupted", reason: "cancelled" };
    let end = (): void => {};
    await using fake = await openSession(({ path }, response) => {
      if (path.endsWith("/cancel")) {
        sendJSON(response, executionView("running"), 202);
        return end();
      }
      beginEvents(response).write(toMessage("0", START));
      end = () => response.end(toMessage("1", { ...END, result: interrupted } as never));
    });
    const controller = new AbortController();
    const execution = fake.session.execute("1", { id: "x1", signal: controller.signal });
    const result = execution.then((value) => value);
    await expect.poll(() => fake.requests.length).toBe(1);
    controller.abort();
    expect(await result).toMatchObject({ status: "interrupted", reason: "cancelled" });
    expect(fake.requests.map(toLine)).toEqual(["POST /v1/sessions/s/execute", "POST /v1/executions/x1/cancel"]);
  });
});

describe("onInput", () => {
  test("answers once for each wait, also after a lost connection", async () => {
    const base = { sessionId: "s", executionId: "x1", seq: 1, time: 1 };
    const asks = (call: number) => ({ ...base, type: "input-start", call, prompt: `${call}?`, password: false });
    const answered = (call: number) => ({ ...base, type: "input-end", call, answered: true });
    const script = [START, asks(1), answered(1), asks(2), answered(2), END];
    const lines: string[] = [];
    await using fake = await openSession(({ path, body, headers }, response) => {
      if (path.includes("waitMs")) return;
      if (path.endsWith("/stdin")) {
        lines.push(body);
        return void response.writeHead(204).end();
      }
      const next = headers["last-event-id"] === undefined ? 0 : Number(headers["last-event-id"]) + 1;
      beginEvents(response).write(toMessage(`${next}`, script[next] as never));
      const isAsked = script[next]?.type === "input-start";
      const call = next === 1 ? 1 : 2;
      const cut = (): void => void (!isAsked || lines.length >= call ? response.destroy() : setImmediate(cut));
      setImmediate(cut);
    });
    const prompts: string[] = [];
    const result = await fake.session.execute("1", {
      onInput: ({ prompt }) => {
        prompts.push(prompt);
        return `answer ${prompt}`;
      },
    });
    expect(result.status).toBe("ok");
    expect(prompts).toEqual(["1?", "2?"]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { text: "answer 1?", call: 1 },
      { text: "answer 2?", call: 2 },
    ]);
    expect(JSON.parse(fake.requests[0]?.body ?? "")).toMatchObject({ input: "ask" });
  });

  test("that fails is the end of input", async () => {
    const ask = {
      sessionId: "s",
      executionId: "x1",
      seq: 1,
      time: 1,
      type: "input-start",
      call: 7,
      prompt: "",
      password: true,
    };
    let body = "";
    let end = (): void => {};
    await using fake = await openSession((request, response) => {
      if (request.path.includes("waitMs")) return;
      if (request.path.endsWith("/stdin")) {
        ({ body } = request);
        response.writeHead(204).end();
        return end();
      }
      beginEvents(response).write(toMessage("0", ask));
      end = () => response.end(toMessage("1", END));
    });
    await fake.session.execute("1", { onInput: () => Promise.reject(new Error("no")) });
    expect(JSON.parse(body)).toEqual({ text: null, why: "no", call: 7 });
  });
});

describe("wrong arguments", () => {
  test("throw at once, with a suggestion", async () => {
    await using fake = await openSession(() => {});
    const { session, runtime } = fake;
    expect(() => session.execute(1 as never)).toThrow(TypeError);
    expect(() => session.execute("1", { timeoutMS: 5 } as never)).toThrow("Did you mean 'timeoutMs'?");
    expect(() => session.execute("1", { timeoutMs: -1 })).toThrow(RangeError);
    expect(() => session.execute("1", { id: "no spaces" })).toThrow(RangeError);
    expect(() => session.execute("1", { signal: {} as never })).toThrow(TypeError);
    expect(() => session.shell("x", { stdin: 5 as never })).toThrow(TypeError);
    expect(() => session.set("x", { json: undefined })).toThrow(TypeError);
    expect(() => session.set("..", { json: 1 })).toThrow(RangeError);
    expect(() => session.get("x", { as: "yaml" as never })).toThrow(TypeError);
    expect(() => session.files.read("")).toThrow(RangeError);
    expect(() => runtime.execute("1", { idleTimeoutMs: 5 } as never)).toThrow(TypeError);
    expect(() => runtime.shell("x", { session: "no spaces" })).toThrow(RangeError);
    expect(() => runtime.rlm({ tools: [] } as never)).toThrow(TypeError);
    expect(() => runtime.openSession({ limits: { memory: 1 } } as never)).toThrow(TypeError);
    expect(() => runtime.tasks.get(5 as never)).toThrow(TypeError);
    expect(fake.requests).toEqual([]);
  });

  test("an id that no address can have is not found", async () => {
    await using fake = await openSession(() => {});
    for (const id of ["", ".", ".."]) {
      expect((await failureOf(fake.runtime.executions.get(id))).name).toBe("ExecutionNotFoundError");
      expect((await failureOf(collect(fake.runtime.tasks.get(id)))).name).toBe("TaskNotFoundError");
      expect((await failureOf(fake.runtime.runs.get(id).info())).name).toBe("RunNotFoundError");
      expect((await failureOf(fake.runtime.sessions.get(id))).name).toBe("SessionNotFoundError");
    }
    expect(fake.requests).toEqual([]);
  });
});
