// Files of a session in a container are memory: they take nothing from what its code may hold, and what ends at a limit says so.

import { chmodSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { RuntimeOptions } from "../../../src/api/local.ts";
import { ForkRefusedError } from "../../../src/errors.ts";
import { openRuntime } from "../../../src/index.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { useDocker } from "../../docker/use-docker.ts";

const unavailable = await useDocker();
if (unavailable !== undefined) process.stdout.write(`Skipped, memory of containers: ${unavailable}\n`);
const MIB = 2 ** 20;

function open(options: RuntimeOptions) {
  return openRuntime({ environment: "docker", preload: [], poolSize: 0, ...options });
}

/** Until there is no space. */
const FILL = `def fill(folder):
    block, total = bytes(2 ** 20), 0
    try:
        for number in range(1000):
            with open(f"{folder}/full-{number}", "wb", buffering=0) as file:
                for _ in range(16):
                    total += file.write(block)
    except OSError:
        pass
    return total // 2 ** 20`;
const FILL_INODES = `def fill_inodes(folder):
    try:
        for number in range(1_000_000): open(f"{folder}/empty-{number}", "w").close()
    except OSError as error:
        return number`;

describe.skipIf(unavailable !== undefined)("memory of containers", { tags: "stress" }, () => {
  afterEach(() => vi.unstubAllEnvs());

  test("is enough for a session whose folders are full", async () => {
    await using runtime = await open({ limits: { memoryBytes: 128 * MIB, diskBytes: 128 * MIB } });
    const session = await runtime.openSession();
    await run(session, FILL);
    const filled = await run(session, "[fill(folder) for folder in ('/tmp', '/dev/shm', '.')]");
    expect(filled.text).toMatch(/^\[12[78], 6[34], 12[78]\]$/);
    expect((await run(session, "len(b'x' * (90 * 2 ** 20)) // 2 ** 20")).text).toBe("90");
  });

  test("ends a session at the limit of the engine, and the result says why", async () => {
    await using runtime = await open({
      limits: { memoryBytes: 1024 * MIB, diskBytes: 16 * MIB },
      docker: { memoryBytes: 160 * MIB },
    });
    const session = await runtime.openSession();
    const result = await session.execute("kept = []\nwhile True: kept.append(bytearray(b'x' * 2 ** 20))");
    expect(result).toMatchObject({ status: "interrupted", reason: "memory" });
  });

  test.each(["socket", "attach"])("for files: a fork is refused when no more can be made, by %s", async (transport) => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", transport);
    await using runtime = await open({ limits: { diskBytes: 16 * MIB } });
    const session = await runtime.openSession();
    await run(session, "kept = 1");
    await run(session, FILL_INODES);
    expect(Number((await run(session, "fill_inodes('.')")).text)).toBeGreaterThan(10_000);
    expect(Number((await run(session, "fill_inodes('/dev/shm')")).text)).toBeLessThan(20_000);
    await expect(session.fork()).rejects.toThrow(ForkRefusedError);
    expect((await run(session, "kept")).text).toBe("1");
    expect(await session.shell("echo yes")).toMatchObject({ stdout: "yes\n" });
  });

  test.skipIf(process.getuid?.() !== 0)("a fork without pipes is refused, and the session lives on", async () => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", "socket");
    await using runtime = await open({});
    const session = await runtime.openSession();
    await run(session, "kept = 1");
    const own = readdirSync(tmpdir()).filter(
      (name) => name.startsWith("rlm-socket-") && name.includes(`.${process.pid}.`),
    );
    expect(own).toHaveLength(1);
    const pipes = join(tmpdir(), own[0] ?? "", "s/pipes");
    chmodSync(pipes, 0o555);
    await expect(session.fork()).rejects.toThrow(ForkRefusedError);
    chmodSync(pipes, 0o1777);
    expect((await run(session, "kept")).text).toBe("1");
    const fork = await session.fork();
    expect((await run(fork, "kept")).text).toBe("1");
  });
});
