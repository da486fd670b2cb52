// A real engine, an image of this machine's Python, and no registry.

import { describe, expect, test } from "vitest";
import { installDocker } from "../../../src/environments/docker/install.ts";
import { findDockerEngine } from "../../find-docker-engine.ts";
import { PlainEngine } from "./plain-engine.ts";

const answer = await findDockerEngine();
const why = "why" in answer ? ` (skipped: ${answer.why})` : "";
const engine = new PlainEngine("host" in answer ? answer.host : "unix:///nonexistent");
/** Nothing listens there. */
const UNREACHABLE = "127.0.0.1:9/python:3.11-slim";

describe.skipIf(why !== "")(`with a Docker engine${why}`, { timeout: 180_000 }, () => {
  test("makes an image if none can be pulled, and says why and how it is used", async () => {
    const progress: string[] = [];
    const installed = await installDocker(engine, { image: UNREACHABLE, onProgress: (text) => progress.push(text) });
    expect(installed).toMatchObject({
      origin: "made",
      image: expect.stringMatching(/^rlm-runtime\/system-python:3\.\d+$/),
    });
    expect(installed.summary).toEqual([
      expect.stringContaining(`Could not pull '${UNREACHABLE}': `),
      expect.stringContaining(`Made '${installed.image}'`),
      expect.stringContaining(`image = "${installed.image}"`),
    ]);
    expect(progress.at(-1)).toMatch(/^making an image of \d+ MB: 100 %$/);
    const { Config } = await engine.json("GET", `/images/${installed.image}/json`);
    expect(Config).toMatchObject({ Labels: { "dev.rlm-runtime.kind": "system-python" } });

    const shown =
      "import ssl, sqlite3, ctypes, zoneinfo; print(len(ssl.create_default_context().get_ca_certs()) > 0, zoneinfo.ZoneInfo('Europe/Paris'))";
    expect(await engine.run(installed.image, ["python3", "-c", shown])).toEqual({
      exitCode: 0,
      output: "True Europe/Paris\r\n",
    });
    expect(
      await engine.run(installed.image, ["bash", "-c", "echo a b | awk '{print $2}' | sed s/b/c/; id -un"]),
    ).toEqual({ exitCode: 0, output: "c\r\nnobody\r\n" });
    expect(await engine.run(installed.image, ["cat", "/etc/passwd"])).toMatchObject({
      output: expect.stringMatching(/^root:.*\r\nnobody:.*\r\n$/),
    });
  });

  test("limits memory and processes of containers", async ({ skip }) => {
    const { MemoryLimit, PidsLimit } = await engine.json("GET", "/info");
    if (MemoryLimit !== true || PidsLimit !== true) return skip("the cgroups memory and pids are not mounted");
    const { image } = await installDocker(engine, { python: "/usr/bin/python3" });
    const limits = { Memory: 100 << 20, MemorySwap: 100 << 20, PidsLimit: 10 };
    expect(await engine.run(image, ["python3", "-c", "bytearray(300 << 20)"], limits)).toMatchObject({ exitCode: 137 });
    const forks =
      "import os, signal\ntry:\n while os.fork(): pass\n signal.pause()\nexcept BlockingIOError: print('stopped')";
    expect(await engine.run(image, ["python3", "-c", forks], limits)).toEqual({ exitCode: 0, output: "stopped\r\n" });
  });

  test("an image without Python is refused with its output", async () => {
    const broken = {
      address: engine.address,
      pull: async () => undefined,
      importImage: engine.importImage.bind(engine),
      run: async () => ({ exitCode: 127, output: "no python3" }),
    };
    await expect(installDocker(broken, { image: "empty:1" })).rejects.toThrow(
      "image 'empty:1' does not run Python: exit code 127, output 'no python3'",
    );
  });
});
