// Hosts, engines and containers that are killed in the midst of everything. Sessions say what was lost, and after the next start nothing is left.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LocalRuntime, LocalSession, RuntimeOptions } from "../../../src/api/local.ts";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";
import { tarEnd, tarHeader, tarPadding } from "../../../src/environments/docker/image/tar.ts";
import { Images } from "../../../src/environments/docker/images.ts";
import { addDocker } from "../../../src/environments/docker/setup.ts";
import { EnvironmentUnavailableError } from "../../../src/errors.ts";
import { openRuntime } from "../../../src/index.ts";
import { findDockerEngine } from "../../docker/find-engine.ts";
import { processesWith } from "../../hostile/machine.ts";
import { uniqueSleep } from "../../hostile/probe.ts";
import { PYTHON } from "../../open.ts";
import { remove } from "../../remove.ts";
import { openEngineProxy } from "./engine-proxy.ts";
import { hasRegistry, TestRegistry } from "./image/registry.ts";
import { firstProcessOf, PrivateEngine, processesOf } from "./private-engine.ts";

const answer = await findDockerEngine();
const why = "why" in answer ? ` (skipped: ${answer.why})` : "";
const DIST = join(import.meta.dirname, "../../../dist");
const HOST = join(import.meta.dirname, "../../fixtures/docker-host.mjs");
const LOST = { status: "interrupted", reason: "worker-lost" };

describe.skipIf(why !== "")(`with an engine of its own${why}`, { tags: "stress" }, () => {
  let engine: PrivateEngine;
  let temp: string;

  beforeAll(async () => {
    engine = await PrivateEngine.open();
    vi.stubEnv("DOCKER_HOST", engine.host);
    await addDocker({ python: PYTHON });
    return () => engine.close();
  });
  beforeEach(() => {
    temp = mkdtempSync(join(tmpdir(), "rlm-kills-"));
    vi.stubEnv("DOCKER_HOST", engine.host);
    vi.stubEnv("TMPDIR", temp);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    remove(temp);
  });
  afterAll(() => void vi.unstubAllEnvs());

  const open = (options: RuntimeOptions = {}) =>
    openRuntime({ environment: "docker", preload: [], poolSize: 0, ...options });

  /** Its containers end with it, at the latest with the test. `mark`: of a process in its session. */
  function startHost(task: "busy" | "flood" | "fill", { transport = "", mark = "" } = {}) {
    const env = { ...process.env, RLM_DOCKER_TRANSPORT: transport, TEST_MARK: mark };
    const host = spawn(process.execPath, [HOST, DIST, task], { stdio: ["ignore", "pipe", "inherit"], env });
    const exited = once(host, "exit");
    const kill = async (): Promise<void> => {
      host.kill("SIGKILL");
      await exited;
    };
    onTestFinished(kill);
    return { isReady: once(host.stdout, "data"), kill };
  }

  /** A start removes stale containers, and its session works. Then nothing is left of what was killed, nor of itself. */
  async function expectNothingLeft(known: readonly string[] = []): Promise<void> {
    const start = async (): Promise<readonly string[]> => {
      {
        await using runtime = await open();
        await using session = await runtime.openSession();
        expect((await session.execute("print(6*7)")).stdout).toBe("42\n");
      }
      return engine.containers();
    };
    // The engine may have created one for the killed host after the first start had looked.
    await expect.poll(start).toEqual([]);
    expect(readdirSync(temp).filter((name) => name.startsWith("rlm-socket-"))).toEqual([]);
    await expect.poll(() => known.flatMap(processesOf)).toEqual([]);
  }

  /** So that the next start builds one. */
  async function removeWorkerImages(): Promise<void> {
    const filters = JSON.stringify({ reference: ["rlm-runtime/worker"] });
    const built = (await engine.call("GET", "/images/json", { filters })) as readonly { readonly Id: string }[];
    for (const { Id } of built) await engine.call("DELETE", `/images/${Id}`, { force: true });
  }

  /** The address of an engine that is killed at the `nth` of these requests. `killed` resolves when it is gone. */
  async function killAt(request: RegExp, nth = 1): Promise<{ readonly host: string; readonly killed: Promise<void> }> {
    let count = 0;
    let report: (gone: Promise<void>) => void;
    const killed = new Promise<void>((resolve) => (report = resolve));
    const proxy = await openEngineProxy(engine.host, (line) => {
      if (!request.test(line)) return;
      count += 1;
      if (count === nth) report(engine.kill());
    });
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    return { host: proxy.host, killed };
  }

  const GONE = { environment: "docker", why: expect.stringMatching(/Docker engine/), fix: expect.any(String) };

  describe.each(["socket", "attach"])("a host that is killed (%s)", (transport) => {
    test.each(["busy", "flood"] as const)("while a session is in a %s execution", async (task) => {
      const mark = uniqueSleep();
      const host = startHost(task, { transport, mark });
      await host.isReady;
      const known = await engine.containers("session");
      expect(known).toHaveLength(1);
      expect(processesWith(mark)).toHaveLength(1);
      await host.kill();
      // The container ends by itself: no start is needed for that.
      await expect.poll(() => processesWith(mark)).toEqual([]);
      await expectNothingLeft(known);
    });

    test("while its pool fills", async () => {
      const host = startHost("fill", { transport });
      await expect.poll(() => engine.containers("session"), { interval: 10 }).not.toEqual([]);
      await host.kill();
      await expectNothingLeft(await engine.containers());
    });
  });

  test("a host that is killed while the image of sessions is built", async () => {
    await removeWorkerImages();
    const host = startHost("fill");
    await expect.poll(() => engine.containers("build"), { interval: 10 }).not.toEqual([]);
    const known = await engine.containers();
    await host.kill();
    await expectNothingLeft(known);
  });

  test.each(["socket", "attach"])("a container whose process 1 is killed (%s)", async (transport) => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", transport);
    await using runtime = await open();
    await using session = await runtime.openSession();
    await session.execute("x = 1");
    const known = await engine.containers("session");
    const execution = session.execute("import time; print('on', flush=True); time.sleep(60)");
    for await (const event of execution) if (event.type === "output-delta") break;
    process.kill(firstProcessOf(known[0] ?? ""), "SIGKILL");
    expect(await execution).toMatchObject({ ...LOST, error: { name: "WorkerLost" } });
    expect((await session.execute("'x' in globals()")).text).toBe("False");
    await session.close();
    await runtime.close();
    await expectNothingLeft(known);
  });

  test("sessions over the socket survive a killed dockerd, and new ones fail", async () => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", "socket");
    await using runtime = await open();
    const session = await runtime.openSession();
    await session.execute("x = 41");
    const known = await engine.containers("session");
    await engine.kill();
    expect((await session.execute("print(x + 1)")).stdout).toBe("42\n");
    const failure = await runtime.openSession().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EnvironmentUnavailableError);
    expect(failure).toMatchObject({ why: expect.stringContaining("no Docker engine"), fix: expect.any(String) });
    await session.close();
    await runtime.close();
    await expect.poll(() => known.flatMap(processesOf)).toEqual([]);
    await engine.restart();
    await expectNothingLeft(known);
  });

  test("a dockerd that is killed takes sessions by attached streams with it", async () => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", "attach");
    await using runtime = await open();
    const session = await runtime.openSession();
    const known = await engine.containers("session");
    const execution = session.execute("import time; print('on', flush=True); time.sleep(60)");
    for await (const event of execution) if (event.type === "output-delta") break;
    await engine.kill();
    expect(await execution).toMatchObject({ ...LOST, error: { name: "WorkerLost" } });
    await engine.restart();
    // The first may be lost, too: its worker was asked for while there was no engine.
    await expect.poll(async () => (await session.execute("print(1)")).stdout).toBe("1\n");
    await runtime.close();
    await expectNothingLeft(known);
  });

  test("a dockerd that is killed while the image of sessions is committed", async () => {
    await removeWorkerImages();
    const { host, killed } = await killAt(/POST \S*\/commit/);
    await using runtime = await open({ docker: { host } });
    expect(await runtime.openSession().catch((error: unknown) => error)).toMatchObject(GONE);
    await killed;
    await engine.restart();
    await using session = await runtime.openSession();
    expect((await session.execute("print(6*7)")).stdout).toBe("42\n");
    await runtime.close();
    await expectNothingLeft();
  });

  test.skipIf(!hasRegistry)("a dockerd that is killed in the midst of a layer that it pulls", async () => {
    const registry = await TestRegistry.open();
    onTestFinished(() => registry.close());
    const image = await pushRandom(engine.host, registry);
    let killed: Promise<void> | undefined;
    registry.inLayer = () => void (killed ??= engine.kill());
    await using runtime = await open({ docker: { image } });
    expect(await runtime.openSession().catch((error: unknown) => error)).toMatchObject(GONE);
    await killed;
    await engine.restart();
    await expectNothingLeft();
    registry.inLayer = undefined;
    // It is pulled whole, and has no Python.
    expect(await runtime.openSession().catch((error: unknown) => error)).toMatchObject({
      why: `image '${image}' has no python3`,
    });
  });

  test.each(["socket", "attach"])("a dockerd that is killed while the pool fills (%s)", async (transport) => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", transport);
    await using first = await open(); // the image of sessions is there afterwards
    await first.warm();
    const { host, killed } = await killAt(/POST \S*\/containers\/create/, 2);
    const runtime = await open({ poolSize: 3, docker: { host } });
    expect(await runtime.warm().catch((error: unknown) => error)).toMatchObject(GONE);
    await killed;
    const known = await engine.restart().then(() => engine.containers("session"));
    await using session = await runtime.openSession();
    // It may be one that waited, and was lost with the engine.
    await expect.poll(async () => (await session.execute("print(6*7)")).stdout).toBe("42\n");
    await runtime.close();
    await expectNothingLeft(known);
  });

  test("a dockerd that is killed during a fork leaves both sessions over the socket", async () => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", "socket");
    const { host, killed } = await killAt(/POST \S*\/containers\/\w+\/update/);
    await using runtime = await open({ docker: { host } });
    const session = await runtime.openSession();
    await session.execute("x = 41");
    const known = await engine.containers("session");
    const fork = await session.fork();
    await killed;
    for (const each of [session, fork]) expect((await each.execute("print(x + 1)")).stdout).toBe("42\n");
    await runtime.close();
    await expect.poll(() => known.flatMap(processesOf)).toEqual([]);
    await engine.restart();
    await expectNothingLeft(known);
  });

  test("a dockerd that is killed during a fork takes both sessions by attached streams with it", async () => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", "attach");
    const { host, killed } = await killAt(/POST \S*\/containers\/\w+\/update/);
    await using runtime = await open({ docker: { host } });
    const session = await runtime.openSession();
    await session.execute("x = 41");
    const known = await engine.containers("session");
    // It may have been complete when the engine ended.
    const forked = await session.fork().catch((error: unknown) => error);
    await killed;
    if (forked instanceof Error)
      expect(forked).toMatchObject({ name: expect.stringMatching(/WorkerLost|ForkRefused/) });
    await engine.restart();
    await expect.poll(async () => (await session.execute("'x' in globals()")).text).toBe("False");
    await runtime.close();
    await expectNothingLeft(known);
  });

  describe.each(["socket", "attach"])("a container that is killed (%s)", (transport) => {
    let runtime: LocalRuntime;
    let session: LocalSession;
    let known: readonly string[];
    beforeEach(async () => {
      vi.stubEnv("RLM_DOCKER_TRANSPORT", transport);
      runtime = await open();
      session = await runtime.openSession();
      await session.execute("x = bytearray(100_000_000)");
      await session.files.write("kept.txt", "x");
      known = await engine.containers("session");
      return () => runtime.close();
    });
    const kill = (): boolean => process.kill(firstProcessOf(known[0] ?? ""), "SIGKILL");

    /** Its variables and its files are lost, and it says so. */
    async function expectLost(): Promise<void> {
      // The first may be lost, too, if it begins before the end of the container is known.
      await expect.poll(async () => (await session.execute("'x' in globals()")).text).toBe("False");
      expect(await session.files.exists("kept.txt")).toBe(false);
      await runtime.close();
      await expectNothingLeft(known);
    }

    test("while it is idle", async () => {
      const reset = new Promise((resolve) => {
        session.subscribe((event) => {
          if (event.type === "session-reset") resolve(event);
        });
      });
      kill();
      expect(await reset).toMatchObject({ why: "worker-lost" });
      await expectLost();
    });

    test("during a fork", async () => {
      const forking = session.fork().catch((error: unknown) => error);
      kill();
      expect(await forking).toMatchObject({ name: expect.stringMatching(/WorkerLost|ForkRefused/) });
      await expectLost();
    });

    test("while a file is written to it", async () => {
      const chunks = async function* (): AsyncGenerator<Buffer> {
        for (let count = 0; ; count += 1) {
          if (count === 20) kill();
          yield Buffer.alloc(64 * 1024);
        }
      };
      await expect(session.files.write("big", chunks())).rejects.toMatchObject({ name: "WorkerLostError" });
      await expectLost();
    });

    test("while a file is read from it", async () => {
      await session.execute("open('big', 'wb').write(bytes(50_000_000)); None");
      const reading = async (): Promise<void> => {
        let isKilled = false;
        for await (const _ of session.files.readStream("big")) {
          if (!isKilled) kill();
          isKilled = true;
        }
      };
      await expect(reading()).rejects.toMatchObject({ name: "WorkerLostError" });
      await expectLost();
    });
  });
});

/** Pushes an image of random bytes, which are as many when compressed, and removes it from the engine. Returns its name. */
async function pushRandom(host: string, registry: TestRegistry): Promise<string> {
  const engine = new Engine(findAddress(host));
  const size = 3_000_000;
  const repository = `${registry.address}/random`;
  const file = { path: "random", kind: "file", mode: 0o644, mtime: 0, size } as const;
  const parts = [tarHeader(file), randomBytes(size), tarPadding(size), tarEnd()];
  await new Images(engine).importImage(Readable.from(parts), { repository, tag: "1", changes: [] });
  const headers = { "X-Registry-Auth": Buffer.from("{}").toString("base64") };
  for await (const { error } of engine.messages("POST", `/images/${repository}/push`, { query: { tag: "1" }, headers }))
    expect(error).toBeUndefined();
  await engine.call("DELETE", `/images/${repository}:1`);
  engine.close();
  return `${repository}:1`;
}
