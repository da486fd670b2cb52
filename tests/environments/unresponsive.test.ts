// What the host does about a sandbox that does not answer: nothing waits for ever.

import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Family } from "../../src/environments/local/family.ts";
import type { ForkServer } from "../../src/environments/local/fork-server.ts";
import { LocalWorker } from "../../src/environments/local/local-worker.ts";
import { toPipes } from "../../src/environments/local/pipes.ts";

const LIMITS = { memoryBytes: 2 ** 20, diskBytes: 2 ** 20, processes: 1, openFiles: 64, branches: 1 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a sandbox that is never ready is given up and closed", async () => {
  const server = new SilentServer();
  const family = new Family(server.asServer, LIMITS);
  const opening = family.open([]).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await opening).toContain("failed to start: it was not ready after 60 s");
  expect(server.orders).toEqual(["open", "close"]);
});

test("a worker that does not end when it is killed loses its sandbox", async () => {
  const server = new SilentServer();
  using pipes = makePipes(5);
  const worker = new LocalWorker(server.asServer, 1, 1, pipes.fds);
  worker.kill("timeout");
  await vi.advanceTimersByTimeAsync(19_000);
  expect(server.orders).toEqual(["taken", "kill"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(server.orders).toEqual(["taken", "kill", "close"]);
  worker.end({ kind: "sandbox-gone" });
});

test("a worker whose pipes are gone leaves no descriptor open", () => {
  using pipes = makePipes(5);
  const open = (): number => readdirSync("/proc/self/fd").length;
  const before = open();
  const fds = [...pipes.fds.slice(0, 4), 1_000_000];
  expect(() => new LocalWorker(new SilentServer().asServer, 1, 1, fds)).toThrow("ENOENT");
  expect(open()).toBe(before);
});

/** A fork server that takes orders and never answers. */
class SilentServer {
  readonly orders: string[] = [];
  readonly profileFor = (): undefined => undefined;
  readonly pipes = toPipes({ pid: process.pid });
  readonly endReason = "it does not answer";

  register(): number {
    return 1;
  }

  send(op: string): void {
    this.orders.push(op);
  }

  get asServer(): ForkServer {
    return this as unknown as ForkServer;
  }
}

/** Descriptors of this process for pipes, as the fork server makes them. */
function makePipes(count: number): { readonly fds: readonly number[] } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "pipes-"));
  const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)));
  execFileSync("mkfifo", paths);
  const fds = paths.map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
  return {
    fds,
    [Symbol.dispose]() {
      for (const fd of fds) closeSync(fd);
      rmSync(folder, { recursive: true });
    },
  };
}
