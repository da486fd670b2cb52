// Connections that are cut between a client and a real server, and a server that is replaced.

import { expect, test } from "vitest";
import { openTestRuntime } from "../../open.ts";
import { openServer } from "../../server/ws/connect.ts";
import { connectWith } from "../../../src/client/connect.ts";
import { collect, failureOf } from "../fakes/fake-server.ts";
import { openProxy, openRemote, quickClock, TOKEN } from "./remote.ts";

const TALK = "import time\nfor n in range(10):\n    print(n, flush=True)\n    time.sleep(0.002)";

test("code runs once and its events are complete, wherever the response is cut", async () => {
  await using remote = await openRemote();
  await using session = await remote.runtime.openSession();
  await session.execute("runs = 0");
  for (let at = 1; at <= 40; at += 1) {
    let seen = 0;
    remote.proxy.onAnswer = (piece) => {
      seen += 1;
      return seen % 3 === at % 3 ? Math.floor((piece.length * at) / 41) : undefined;
    };
    const events = await collect(session.execute(`runs += 1\n${at % 4 === 0 ? TALK : "print('x')"}`));
    remote.proxy.onAnswer = undefined;
    const printed = events.map((event) => (event.type === "output-delta" ? event.text : "")).join("");
    expect(printed, `cut ${at}`).toBe(at % 4 === 0 ? "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n" : "x\n");
    expect(events.filter(({ type }) => type === "execution-start")).toHaveLength(1);
    expect(await session.get("runs")).toBe(at);
  }
});

test("requests whose responses are lost act once", async () => {
  await using remote = await openRemote();
  const loseNext = (): void => {
    remote.proxy.onAnswer = () => {
      remote.proxy.onAnswer = undefined;
      return 0;
    };
  };
  loseNext();
  await using session = await remote.runtime.openSession({ id: "once" });
  expect((await remote.runtime.sessions.list()).items).toHaveLength(1);
  loseNext();
  const checkpoint = await session.checkpoint();
  expect(await session.checkpoints()).toEqual([checkpoint]);
  loseNext();
  await session.dropCheckpoint(checkpoint);
  await session.files.write("gone", "x");
  loseNext();
  await session.files.remove("gone");
  const task = session.shell("cat", { stdin: "open" });
  await task.write("a");
  loseNext();
  await task.write("b");
  loseNext();
  await task.closeInput();
  expect((await task).stdout).toBe("ab");
  loseNext();
  expect((await session.close()).id).toBe("once");
});

test("a server that is replaced in the middle does not have the work any more", async () => {
  await using first = await openTestRuntime();
  await using second = await openTestRuntime();
  const old = await openServer(first);
  await using fresh = await openServer(second);
  let { port } = old;
  await using proxy = await openProxy(() => port);
  const runtime = await connectWith({ url: proxy.url, token: TOKEN }, quickClock);
  const session = await runtime.openSession();
  const execution = session.execute("print('on', flush=True)\nimport time\ntime.sleep(1000)", { timeoutMs: null });
  const error = await failureOf(
    (async () => {
      for await (const event of execution) {
        if (event.type !== "output-delta") continue;
        ({ port } = fresh);
        proxy.cut();
      }
    })(),
  );
  expect(error).toMatchObject({ name: "ExecutionNotFoundError", executionId: execution.id });
  expect(await failureOf(execution)).toMatchObject({ name: "ExecutionNotFoundError" });
  expect(await failureOf(session.execute("1"))).toMatchObject({ name: "SessionClosedError", sessionId: session.id });
  await runtime.close();
  await old[Symbol.asyncDispose]();
});
