// What a real engine refuses: the error names the setting, says why, and what to do next.

import { once } from "node:events";
import { chmodSync, mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DockerOptions } from "../../../src/api/local.ts";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";
import { openRuntime } from "../../../src/index.ts";
import { remove } from "../../remove.ts";
import { useDocker } from "../../docker/use-docker.ts";

const unavailable = await useDocker();
if (unavailable !== undefined) process.stdout.write(`Skipped, refusals of an engine: ${unavailable}\n`);
const NOBODY = 65534;

/** Why no session opens. */
async function refusalOf(docker: DockerOptions): Promise<unknown> {
  await using runtime = await openRuntime({ environment: "docker", preload: [], poolSize: 0, docker });
  return await runtime.openSession().then(
    () => "a session",
    (error: unknown) => error,
  );
}

describe.skipIf(unavailable !== undefined)("an engine refuses", () => {
  test.each<readonly [string, DockerOptions, RegExp, RegExp]>([
    [
      "an unknown runtime",
      { runtime: "nowhere" },
      /^the engine cannot use the runtime 'nowhere': .*nowhere/i,
      /^Install it and add it to the engine \(dockerd --add-runtime\), or leave out \[docker\] runtime$/,
    ],
    [
      "an unknown network",
      { network: "nowhere" },
      /^the engine cannot use the network 'nowhere': network nowhere not found$/,
      /^Make it: docker network create nowhere; or leave out \[docker\] network$/,
    ],
    [
      "more processors than there are",
      { cpus: 100_000 },
      /^the engine cannot give a session 100000 processors: Range of CPUs is from 0\.01 to \d/,
      /^Set \[docker\] cpus to a number in the range that the engine names, or leave it out$/,
    ],
    [
      "less memory than a container needs",
      { memoryBytes: 1000 },
      /^the engine cannot limit a session to 1,000 bytes of memory: Minimum memory limit allowed is 6 ?MB$/,
      /^Set \[docker\] memory to a size such as "1g", or leave it out$/,
    ],
    [
      "memory in which Python does not start",
      { memoryBytes: 6 * 2 ** 20 },
      /^(?:the fork server in the container did not start: its container|the engine cannot limit a session to 6\.0 MiB)/,
      /\[docker\] memory/,
    ],
    ...[1, 4, 7].map((pids): readonly [string, DockerOptions, RegExp, RegExp] => [
      `${pids} processes`,
      { pids },
      new RegExp(
        `^\\[docker\\] pids = ${pids} limits all processes and threads of a container, and a session needs at least 8$`,
      ),
      /^Raise it, or leave it out$/,
    ]),
  ])("%s", async (_, docker, why, fix) => {
    expect(await refusalOf(docker)).toMatchObject({
      environment: "docker",
      why: expect.stringMatching(why),
      fix: expect.stringMatching(fix),
    });
  });

  test("no session with the fewest processes, which has files", async () => {
    await using runtime = await openRuntime({ environment: "docker", preload: [], poolSize: 0, docker: { pids: 8 } });
    await using session = await runtime.openSession();
    await session.files.write("a", "x");
    expect(Buffer.from(await session.files.read("a")).toString()).toBe("x");
    const result = await session.execute("open('a').read()");
    expect(result).toMatchObject({ status: "ok", value: { "text/plain": "'x'" } });
  });

  test("a pull of an image that is nowhere", async () => {
    expect(await refusalOf({ image: "127.0.0.1:9/nowhere:1" })).toMatchObject({
      why: expect.stringMatching(/^image '127\.0\.0\.1:9\/nowhere:1' cannot be pulled: .*connection refused/),
      fix: expect.stringMatching(/^Pull it with 'docker pull 127\.0\.0\.1:9\/nowhere:1', or set \[docker\] image to /),
    });
  });
});

test.skipIf(process.platform !== "linux")("a user who may not use the engine is told which group may", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-refusals-"));
  const socket = join(folder, "engine.sock");
  const server = createServer().listen(socket);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    remove(folder);
  });
  chmodSync(folder, 0o755);
  chmodSync(socket, 0);
  const engine = new Engine(findAddress(`unix://${socket}`));
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY); // root may use every socket
  try {
    await expect(engine.call("GET", "/version")).rejects.toMatchObject({
      environment: "docker",
      why: `this user may not use the Docker engine at unix://${socket}`,
      fix: expect.stringMatching(/^Add the user to the group of that socket \(sudo usermod -aG docker \$USER/),
    });
  } finally {
    if (isRoot) process.seteuid?.(0);
    engine.close();
  }
});
