// What is particular to sessions in containers: what the engine is asked for, the network, and both ways to reach a container.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { RuntimeOptions } from "../../../src/api/local.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { EnvironmentUnavailableError } from "../../../src/errors.ts";
import { openRuntime } from "../../../src/index.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { useDocker } from "../../docker/use-docker.ts";

const unavailable = await useDocker();
if (unavailable !== undefined) process.stdout.write(`Skipped, sessions in containers: ${unavailable}\n`);

function open(options: RuntimeOptions = {}) {
  return openRuntime({ environment: "docker", preload: [], poolSize: 0, ...options });
}

interface Inspected {
  readonly Id: string;
  readonly Config: { readonly User: string; readonly Labels: Readonly<Record<string, string>> };
  readonly HostConfig: Readonly<Record<string, unknown>>;
}

describe.skipIf(unavailable !== undefined)("sessions in containers", () => {
  let engine: Engine;
  beforeAll(() => {
    engine = new Engine(findAddress(undefined));
    return () => engine.close();
  });
  afterEach(() => vi.unstubAllEnvs());

  /** Containers of this process, which tests of other files do not share. */
  async function containers(): Promise<readonly Inspected[]> {
    const filters = JSON.stringify({ label: ["dev.rlm-runtime.kind=session"] });
    const query = { all: true, filters };
    const listed = (await engine.call("GET", "/containers/json", { query })) as readonly {
      readonly Id: string;
      readonly Labels: Readonly<Record<string, string>>;
    }[];
    const own = listed.filter(({ Labels }) => Labels["dev.rlm-runtime.owner"]?.includes(`"pid":${process.pid},`));
    return Promise.all(own.map(async ({ Id }) => (await engine.call("GET", `/containers/${Id}/json`)) as Inspected));
  }

  test("have a read-only root, no capabilities, no network, a user that owns nothing, and limits", async () => {
    await using runtime = await open({ docker: { cpus: 0.5, pids: 77 } });
    const session = await runtime.openSession();
    const [container, ...others] = await containers();
    expect(others).toEqual([]);
    expect(container?.Config.User).toBe("65534:65534");
    expect(container?.HostConfig).toMatchObject({
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: "none",
      AutoRemove: true,
      NanoCpus: 5e8,
      PidsLimit: 77,
      Privileged: false,
      Init: false,
    });
    expect(
      (await run(session, "import os; os.getuid(), os.access('/', os.W_OK), os.access('/usr', os.W_OK)")).text,
    ).toBe("(65534, False, False)");
    expect((await run(session, "import tempfile; os.getcwd(), os.environ['HOME'], tempfile.gettempdir()")).text).toBe(
      "('/box/work', '/box/work', '/box/tmp')",
    );
    const status = await run(
      session,
      "{l.split(':')[0]: l.split()[1] for l in open('/proc/self/status') if ':' in l and len(l.split()) > 1}",
    );
    expect(status.text).toContain("'CapEff': '0000000000000000'");
    expect(status.text).toContain("'NoNewPrivs': '1'");
    expect(status.text).toContain("'Seccomp': '2'");
    await session.close();
    expect(await containers()).toEqual([]);
  });

  test("may be many at a time", { tags: "stress" }, async () => {
    await using runtime = await open({ limits: { memoryBytes: 64 * 2 ** 20, diskBytes: 2 ** 20 } });
    for (let i = 0; i < 18; i++) await runtime.openSession();
    expect(await containers()).toHaveLength(18);
    await runtime.close();
    expect(await containers()).toEqual([]);
  });

  test("may have more memory together when they are forked", async () => {
    await using runtime = await open({ limits: { memoryBytes: 256 * 2 ** 20, diskBytes: 16 * 2 ** 20 } });
    const session = await runtime.openSession();
    const before = Number((await containers())[0]?.HostConfig["Memory"]);
    await session.fork();
    await vi.waitFor(async () => {
      expect(Number((await containers())[0]?.HostConfig["Memory"])).toBe(before + 256 * 2 ** 20);
    });
  });

  test("of one that is killed are told so, and leave nothing", async () => {
    await using runtime = await open();
    const session = await runtime.openSession();
    const execution = session.execute("import time\nprint('on', flush=True)\ntime.sleep(60)");
    const begun = new Promise<void>((resolve) =>
      session.subscribe((event) => event.type === "output-delta" && resolve()),
    );
    await begun;
    const [container] = await containers();
    await engine.call("POST", `/containers/${container?.Id}/kill`, { query: { signal: "KILL" } });
    const result = await execution;
    expect(result).toMatchObject({ status: "interrupted", reason: "worker-lost" });
  });

  test.each(["none", "engine"])("use the network only where the settings name one: %s", async (which) => {
    const made = which === "engine" ? `rlm-test-${process.pid}` : undefined;
    if (made !== undefined) await engine.call("POST", "/networks/create", { json: { Name: made, Internal: true } });
    try {
      await using runtime = await open(made === undefined ? {} : { docker: { network: made } });
      const session = await runtime.openSession();
      const code = `import socket
try: socket.create_connection(("127.0.0.1", 9), 2)
except OSError as error: print(type(error).__name__)`;
      const { stdout } = await session.execute(code);
      expect(stdout).toBe(made === undefined ? "PermissionError\n" : "ConnectionRefusedError\n");
      expect((await runtime.info()).capabilities.network).toBe(made === undefined ? "none" : "all");
    } finally {
      if (made !== undefined) await engine.call("DELETE", `/networks/${made}`);
    }
  });

  test.each(["host", "container:other"])("never get the network '%s'", async (network) => {
    await using runtime = await open({ docker: { network } });
    await expect(runtime.openSession()).rejects.toThrow(EnvironmentUnavailableError);
  });

  describe("over attached streams, as with an engine on another machine", () => {
    test("execute, keep the order of streams, take 8 MiB and give it back, fork, and leave nothing", async () => {
      vi.stubEnv("RLM_DOCKER_TRANSPORT", "attach");
      await using runtime = await open();
      const session = await runtime.openSession();
      const { stdout, stderr } = await session.execute(
        "import sys\nfor i in range(3): print(i); print(-i, file=sys.stderr)",
      );
      expect([stdout, stderr]).toEqual(["0\n1\n2\n", "0\n-1\n-2\n"]);
      const bytes = new Uint8Array(8 * 2 ** 20).map((_, index) => index % 251);
      await session.set("data", { bytes });
      expect(Buffer.compare(await session.get("data", { as: "bytes" }), bytes)).toBe(0);
      const fork = await session.fork();
      expect((await run(fork, "len(data)")).text).toBe(String(bytes.length));
      expect((await session.shell("echo $((6*7))")).stdout).toBe("42\n");
      await session.files.write("f", "of a file");
      expect((await run(session, "open('f').read()")).text).toBe("'of a file'");
      await session.close();
      await fork.close();
      expect(await containers()).toEqual([]);
    });

    test("take input for a program that reads it and ends at once", async () => {
      vi.stubEnv("RLM_DOCKER_TRANSPORT", "attach");
      await using runtime = await open();
      const session = await runtime.openSession();
      for (let time = 0; time < 10; time += 1) {
        const task = session.shell("read line; echo $line", { stdin: "open" });
        await task.write("a line\n");
        expect((await task).stdout).toBe("a line\n");
      }
    });

    test("cannot mount folders, and say so", async () => {
      vi.stubEnv("RLM_DOCKER_TRANSPORT", "attach");
      await using runtime = await open();
      const mounts = [{ path: mkdtempSync(join(tmpdir(), "rlm-mount-")), mode: "ro" as const }];
      chmodSync(mounts[0]?.path ?? "", 0o755);
      await expect(runtime.openSession({ mounts })).rejects.toThrow(/cannot access this machine's files/);
      rmSync(mounts[0]?.path ?? "", { recursive: true });
    });
  });
});
