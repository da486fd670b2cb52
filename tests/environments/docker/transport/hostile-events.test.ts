// A container whose fork server lies: its events open nothing twice, and let nothing grow without a bound.

import { describe, expect, test } from "vitest";
import { ForkServer, type ServerLink } from "../../../../src/environments/local/fork-server.ts";
import { LocalSandbox } from "../../../../src/environments/local/local-sandbox.ts";
import type { PipeEnd } from "../../../../src/environments/local/pipes.ts";
import { parseEvent, parseFirst } from "../../../../src/environments/docker/transport/events.ts";
import { withGrowingMemoryLimit } from "../../../../src/environments/docker/transport/launcher.ts";

const LIMITS = {
  memoryBytes: 2 ** 28,
  diskBytes: 2 ** 24,
  processes: 8,
  openFiles: 64,
  branches: 3,
} as never as Parameters<typeof LocalSandbox.open>[1]["limits"];
/** Pipes from this number on have lost their other ends. */
const NO_READER = 1000;
const HELLO = {
  event: "hello",
  pid: 1,
  python: "3.11",
  executable: "/python3",
  landlock: 1,
  uid: 1,
  cgroup: null,
  users: { why: "none" },
  threads: 1,
  modules: [],
};

/** A fork server whose events the test writes, and what the host has opened and ordered. */
async function connect() {
  let deliver: (chunk: Buffer) => void = () => {};
  const orders: { readonly op: string; readonly [name: string]: unknown }[] = [];
  const opened: number[] = [];
  const say = (event: object): void => deliver(Buffer.from(`${JSON.stringify(event)}\n`));
  const none = {
    drain: () => {},
    close: () => {},
    pause: () => {},
    resume: () => {},
    redirect: () => {},
    onEnd: () => {},
  };
  const end: PipeEnd = {
    reader: (receive) => {
      queueMicrotask(() => receive(Buffer.from("x"), 1));
      return none;
    },
    writer: () => ({
      ...none,
      hasReader: true,
      backlog: 0,
      write: () => {},
      writeBytes: () => {},
      taken: async () => {},
    }),
    input: () => ({ on: () => {}, destroy: () => {} }) as never,
    output: () => ({ on: () => {}, destroy: () => {} }) as never,
  };
  const link: ServerLink = {
    pipes: () => ({
      open: (pipes) => {
        if (pipes.some(([pipe]) => pipe >= NO_READER)) throw Object.assign(new Error("no reader"), { code: "ENXIO" });
        opened.push(...pipes.map(([pipe]) => pipe));
        return pipes.map(() => end);
      },
    }),
    ended: new Promise(() => {}),
    onData: (receive) => {
      deliver = receive;
      say(HELLO);
    },
    write: (line) => void orders.push(JSON.parse(line) as (typeof orders)[number]),
    end: () => {},
    kill: () => {
      throw new Error("killed");
    },
    check: { first: parseFirst, event: parseEvent },
  };
  const fail = (why: string): Error => new Error(why);
  const { signal } = new AbortController();
  const server = await ForkServer.connect(link, { tier: "C", failed: fail, refused: fail }, signal);
  return { server, say, orders, opened };
}

describe("events of a hostile container", () => {
  test("open the pipes of a worker, a job and a program once", async () => {
    const { server, say, orders, opened } = await connect();
    const opening = LocalSandbox.open(server, { mounts: [], limits: LIMITS });
    const worker = { event: "pipes", sandbox: 1, branch: 1, fds: [1, 2, 3, 4, 5] };
    for (let time = 0; time < 100; time += 1) say(worker);
    const sandbox = await opening;
    const starting = sandbox.startJob();
    for (let time = 0; time < 100; time += 1) say({ event: "pipes", sandbox: 1, job: 1, fds: [6, 7] });
    await starting;
    const listener = { onOutput: () => {}, onExit: () => {}, onGone: () => {} };
    sandbox.startProgram({ command: "true", cwd: "/", env: {}, hasInput: false }, listener);
    const program = orders.find(({ op }) => op === "program")?.["program"];
    for (let time = 0; time < 100; time += 1) say({ event: "pipes", sandbox: 1, program, fds: [8, 9, 10] });
    for (let job = 2; job < 100; job += 1) say({ event: "pipes", sandbox: 1, job, fds: [11, 12] });
    expect(opened).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("that come after the end of a copy refuse it, and the sandbox goes on", async () => {
    const { server, say, orders } = await connect();
    const opening = LocalSandbox.open(server, { mounts: [], limits: LIMITS });
    say({ event: "pipes", sandbox: 1, branch: 1, fds: [1, 2, 3, 4, 5] });
    const sandbox = await opening;
    const forking = sandbox.fork(async () => {});
    const branch = orders.find(({ op }) => op === "clone")?.["branch"];
    const fds = [0, 1, 2, 3, 4].map((pipe) => NO_READER + pipe);
    say({ event: "pipes", sandbox: 1, branch, fds });
    say({ event: "no-clone", sandbox: 1, branch, message: "no space left" });
    await expect(forking).rejects.toThrow("no space left");
    expect(orders.filter(({ op }) => op === "taken").at(-1)).toMatchObject({ fds });
    expect(orders.map(({ op }) => op)).not.toContain("close");
  });

  test.each([
    { branch: 1, fds: [1, 2, 3] },
    { branch: 1, fds: [] },
    { job: 1, fds: [1] },
    { program: 1, fds: [1, 2] },
  ])("are none with another number of pipes: %j", (event) => {
    expect(parseEvent({ event: "pipes", sandbox: 1, ...event })).toBeUndefined();
  });

  test("let the limit of memory grow for as many branches as a session may have", () => {
    const calls: unknown[] = [];
    const link = { check: { first: parseFirst, event: parseEvent } } as unknown as ServerLink;
    const call = (async (...request: unknown[]) => void calls.push(request)) as never;
    const { check } = withGrowingMemoryLimit(link, { call }, "c", { docker: {}, limits: LIMITS });
    for (let branch = 1; branch < 1000; branch += 1) check?.event({ event: "cloned", sandbox: 1, branch });
    expect(calls).toHaveLength(LIMITS.branches);
  });
});
