// Hosts, engines and containers that are killed in the midst of everything. Sessions say what was lost, and after the next start nothing is left.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { RuntimeOptions } from "../../../src/api/local.ts";
import { addDocker } from "../../../src/environments/docker/setup.ts";
import { EnvironmentUnavailableError } from "../../../src/errors.ts";
import { openRuntime } from "../../../src/index.ts";
import { findDockerEngine } from "../../docker/find-engine.ts";
import { processesWith } from "../../hostile/machine.ts";
import { uniqueSleep } from "../../hostile/probe.ts";
import { PYTHON } from "../../open.ts";
import { remove } from "../../remove.ts";
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
    {
      await using runtime = await open();
      await using session = await runtime.openSession();
      expect((await session.execute("print(6*7)")).stdout).toBe("42\n");
    }
    await expect.poll(() => engine.containers()).toEqual([]);
    expect(readdirSync(temp).filter((name) => name.startsWith("rlm-socket-"))).toEqual([]);
    await expect.poll(() => known.flatMap(processesOf)).toEqual([]);
  }

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
    const filters = JSON.stringify({ reference: ["rlm-runtime/worker"] });
    const made = (await engine.call("GET", "/images/json", { filters })) as readonly { readonly Id: string }[];
    for (const { Id } of made) await engine.call("DELETE", `/images/${Id}`, { force: true });
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
});
