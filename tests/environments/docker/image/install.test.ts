// A real engine, an image of this machine's Python, and no registry.

import { spawnSync } from "node:child_process";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { findAddress } from "../../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../../src/environments/docker/engine/engine.ts";
import { findImage, Images } from "../../../../src/environments/docker/images.ts";
import { tarEnd, tarHeader } from "../../../../src/environments/docker/image/tar.ts";
import { installDocker } from "../../../../src/environments/docker/install.ts";
import { openRuntime } from "../../../../src/index.ts";
import { findDockerEngine } from "../../../docker/find-engine.ts";
import { imagePython } from "../../../docker/image-python.ts";
import { PrivateEngine } from "../private-engine.ts";
import { runContainer } from "../run-container.ts";

const answer = await findDockerEngine();
const why = "why" in answer ? ` (skipped: ${answer.why})` : "";
/** Nothing listens there. */
const UNREACHABLE = "127.0.0.1:9/python:3.11-slim";

/** Whether the Python that the image is made from has it. */
function isInstalled(module: string): boolean {
  return spawnSync("/usr/bin/python3", ["-c", `import ${module}`]).status === 0;
}

/** An engine of its own: the image of the others is that of all tests. */
describe.skipIf(why !== "")(`with a Docker engine${why}`, { timeout: 180_000, tags: "stress" }, () => {
  let own: PrivateEngine;
  let engine: Engine;
  let images: Images;
  beforeAll(async () => {
    own = await PrivateEngine.open();
    engine = new Engine(findAddress(own.host));
    images = new Images(engine);
    return async () => {
      engine.close();
      await own.close();
    };
  });

  test("builds an image if none can be pulled, and says why and how it is used", async () => {
    const progress: string[] = [];
    const installed = await installDocker(images, { image: UNREACHABLE, onProgress: (text) => progress.push(text) });
    expect(installed).toMatchObject({
      origin: "built",
      image: expect.stringMatching(/^rlm-runtime\/system-python:3\.\d+$/),
    });
    expect(installed.summary).toEqual([
      expect.stringContaining(`Could not pull '${UNREACHABLE}': `),
      expect.stringContaining(`Built '${installed.image}'`),
      "Use it: rlm exec --env docker",
    ]);
    expect(progress.at(-1)).toMatch(/^building an image of \d+ MB: 100 %$/);
    expect(await engine.call("GET", `/images/${installed.image}/json`)).toMatchObject({
      Config: { Labels: { "dev.rlm-runtime.kind": "system-python" } },
    });
    expect(await engine.call("GET", "/containers/json", { query: { all: true } })).toEqual([]);

    const shown =
      "import ssl, sqlite3, ctypes, zoneinfo; print(len(ssl.create_default_context().get_ca_certs()) > 0, zoneinfo.ZoneInfo('Europe/Paris'))";
    expect(await runContainer(engine, installed.image, ["python3", "-c", shown])).toEqual({
      exitCode: 0,
      output: "True Europe/Paris\r\n",
    });
    expect(
      await runContainer(engine, installed.image, ["bash", "-c", "echo a b | awk '{print $2}' | sed s/b/c/; id -un"]),
    ).toEqual({ exitCode: 0, output: "c\r\nnobody\r\n" });
    expect(await runContainer(engine, installed.image, ["cat", "/etc/passwd"])).toMatchObject({
      output: expect.stringMatching(/^root:.*\r\nnobody:.*\r\n$/),
    });
    for (const name of ["numpy", "pandas", "matplotlib.pyplot"].filter(isInstalled))
      expect(
        await runContainer(engine, installed.image, ["python3", "-c", `import ${name}`], { Tmpfs: { "/tmp": "" } }),
      ).toMatchObject({ exitCode: 0 });
  });

  test("removes what it has built before, once no session needs it", async () => {
    const build = async (): Promise<string> => {
      const { image } = await installDocker(images, { python: imagePython() });
      return (await findImage(engine, image))?.id ?? "";
    };
    const use = async (): Promise<void> => {
      await using runtime = await openRuntime({ environment: "docker", docker: { host: own.host }, poolSize: 0 });
      await using _ = await runtime.openSession();
    };
    const first = await build();
    const second = await build();
    expect(await findImage(engine, first)).toBeUndefined();
    await use();
    const third = await build();
    expect(await findImage(engine, second)).toMatchObject({ isNamed: false });
    await use();
    expect(await findImage(engine, second)).toBeUndefined();
    expect(await findImage(engine, third)).toMatchObject({ isNamed: true });
  });

  test("limits memory and processes of containers", async ({ skip }) => {
    const info = (await engine.call("GET", "/info")) as { MemoryLimit: boolean; PidsLimit: boolean };
    if (!info.MemoryLimit || !info.PidsLimit) return skip("the cgroups memory and pids are not mounted");
    const { image } = await installDocker(images, { python: "/usr/bin/python3" });
    const limits = { Memory: 100 << 20, MemorySwap: 100 << 20, PidsLimit: 10 };
    expect(await runContainer(engine, image, ["python3", "-c", "bytearray(300 << 20)"], limits)).toMatchObject({
      exitCode: 137,
    });
    const forks =
      "import os, signal\ntry:\n while os.fork(): pass\n signal.pause()\nexcept BlockingIOError: print('stopped')";
    expect(await runContainer(engine, image, ["python3", "-c", forks], limits)).toEqual({
      exitCode: 0,
      output: "stopped\r\n",
    });
  });

  test("refuses an image without Python, with what the engine says", async () => {
    const archive = Readable.from([tarHeader({ path: "empty", kind: "folder", mode: 0o755, mtime: 0 }), tarEnd()]);
    await images.importImage(archive, { repository: "empty", tag: "1", changes: [] });
    const pulled = Object.assign(new Images(engine), { pull: async () => undefined });
    await expect(installDocker(pulled, { image: "empty:1" })).rejects.toThrow(
      /image 'empty:1' does not run Python: exit code 127, output '.*python3.*not found/,
    );
  });
});
