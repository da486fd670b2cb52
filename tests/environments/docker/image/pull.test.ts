// Pulling from a real registry on loopback, and from one that refuses or breaks off.

import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findAddress } from "../../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../../src/environments/docker/engine/engine.ts";
import { tarEnd, tarHeader, tarPadding } from "../../../../src/environments/docker/image/tar.ts";
import { Images, pullImage } from "../../../../src/environments/docker/images.ts";
import { installDocker } from "../../../../src/environments/docker/install.ts";
import { findSystemImage } from "../../../../src/environments/docker/worker-image.ts";
import { openRuntime } from "../../../../src/index.ts";
import { createSystemImage } from "../../../../src/environments/docker/system-image.ts";
import { findDockerEngine } from "../../../find-docker-engine.ts";
import { TestRegistry, hasRegistry } from "./registry.ts";

const answer = await findDockerEngine();
const reason = "why" in answer ? answer.why : hasRegistry ? "" : "docker-registry is not installed";
const engine = new Engine(findAddress("host" in answer ? answer.host : "unix:///nonexistent"));
const SIZE = 3_000_000;

describe.skipIf(reason !== "")(`from a registry on loopback${reason && ` (skipped: ${reason})`}`, () => {
  let registry: TestRegistry;
  let small: string;

  beforeAll(async () => {
    registry = await TestRegistry.open();
    small = `${registry.address}/small:1`;
    // Random bytes, which are as many when compressed.
    const file = { path: "random", kind: "file", mode: 0o644, mtime: 0, size: SIZE } as const;
    const parts = [tarHeader(file), randomBytes(SIZE), tarPadding(SIZE), tarEnd()];
    await new Images(engine).importImage(Readable.from(parts), {
      repository: `${registry.address}/small`,
      tag: "1",
      changes: [],
    });
    await push(small);
  });

  afterAll(async () => {
    engine.close();
    await registry.close();
  });

  beforeEach(async () => {
    await engine.call("DELETE", `/images/${small}`).catch(() => undefined);
    registry.interfere = () => undefined;
    registry.inLayer = undefined;
    registry.requests.length = 0;
  });

  /** To the registry, and away from the engine. */
  async function push(image: string): Promise<void> {
    const [name = "", tag = ""] = image.split(/:(?=[^:]*$)/);
    const headers = { "X-Registry-Auth": Buffer.from("{}").toString("base64") };
    for await (const { error } of engine.messages("POST", `/images/${name}/push`, { query: { tag }, headers }))
      expect(error).toBeUndefined();
    await engine.call("DELETE", `/images/${image}`);
  }

  const pull = async (image: string, progress: string[] = []): Promise<string[]> => {
    await pullImage(engine, image, { onProgress: (text) => progress.push(text) });
    return progress;
  };

  test("pulls an image and reports progress", async () => {
    const progress = await pull(small);
    expect(progress.every((text) => text.toLowerCase().startsWith(`pulling ${small}`))).toBe(true);
    expect(progress.some((text) => text.includes(" MB"))).toBe(true);
  });

  test("pulls one tag if none is named, not all of them", async () => {
    await expect(pull(`${registry.address}/small`)).rejects.toThrow(/manifest.*latest|latest.*not found/i);
    expect(registry.requests.some((path) => path.includes("/tags/list"))).toBe(false);
  });

  test("says that an image does not exist", async () => {
    await expect(pull(`${registry.address}/none:1`)).rejects.toThrow(/not found|manifest unknown/);
  });

  test.each([
    [401, /unauthorized|authentication|no basic auth/i],
    [500, /500|received unexpected HTTP status/i],
  ])("says that the registry refuses with %i", async (status, message) => {
    registry.interfere = ({ url }, response) => {
      if (!url?.includes("/manifests/")) return undefined;
      const headers = status === 401 ? { "www-authenticate": 'Basic realm="test"' } : {};
      response.writeHead(status, headers).end();
      return true;
    };
    await expect(pull(small)).rejects.toThrow(message);
  });

  test("fails if the registry breaks off in a layer, and can be repeated", { tags: "stress" }, async () => {
    registry.inLayer = (response) => response.destroy();
    await expect(pull(small)).rejects.toThrow(/EOF|connection|verification/i);
    await expect(engine.call("GET", `/images/${small}/json`)).rejects.toMatchObject({ status: 404 });
    registry.inLayer = undefined;
    await pull(small);
  });

  test("ends when it is aborted in the midst of a layer", async () => {
    const controller = new AbortController();
    registry.inLayer = () => controller.abort(new Error("enough"));
    const pulled = pullImage(engine, small, { onProgress: () => undefined, signal: controller.signal });
    await expect(pulled).rejects.toThrow("enough");
  });

  describe("when a session is opened", { tags: "stress" }, () => {
    let image: string;

    beforeAll(async () => {
      image = `${registry.address}/sessions:1`;
      const base = await findSystemImage(engine);
      const query = { repo: `${registry.address}/sessions`, tag: "1" };
      await engine.call("POST", `/images/${base?.name}/tag`, { query });
      await push(image);
      return async () => {
        await engine.call("DELETE", `/images/${image}`).catch(() => undefined);
      };
    });

    const open = async (when: "always" | "missing" | "never", progress: string[] = []) => {
      const docker = { host: engine.address.text, image, pull: when };
      const onProgress = (text: string): void => void progress.push(text);
      await using runtime = await openRuntime({ environment: "docker", preload: [], poolSize: 0, docker, onProgress });
      await using session = await runtime.openSession();
      return (await session.execute("print(6*7)")).stdout;
    };
    const isAsked = (): boolean => registry.requests.some((path) => path.includes("/manifests/"));

    test("an image is pulled if it is missing, then only with 'always', and never with 'never'", async () => {
      const refused = await open("never").catch((error: unknown) => error);
      expect(refused).toMatchObject({ why: `the engine has no image '${image}', and [docker] pull is never` });
      expect(isAsked()).toBe(false);

      const progress: string[] = [];
      expect(await open("missing", progress)).toBe("42\n");
      expect(isAsked()).toBe(true);
      expect(progress[0]).toBe(`Pulling ${image}`);

      registry.requests.length = 0;
      for (const when of ["missing", "never"] as const) expect(await open(when)).toBe("42\n");
      expect(isAsked()).toBe(false);
      expect(await open("always")).toBe("42\n");
      expect(isAsked()).toBe(true);
    });

    test("a registry that refuses is named, also where the engine has an older image", async () => {
      await pull(image);
      registry.interfere = (_, response) => {
        response.writeHead(500).end();
        return true;
      };
      expect(await open("always").catch((error: unknown) => error)).toMatchObject({
        why: expect.stringContaining(`image '${image}' cannot be pulled: `),
        fix: "To use the one that the engine has, set [docker] pull to missing",
      });
      expect(await open("missing")).toBe("42\n");
    });
  });

  test("installs an image that can be pulled", { tags: "stress" }, async () => {
    const image = `${registry.address}/python:3.11-slim`;
    const { archive, changes } = await createSystemImage();
    const images = new Images(engine);
    await images.importImage(archive(), { repository: `${registry.address}/python`, tag: "3.11-slim", changes });
    await push(image);
    expect(await installDocker(images, { image })).toMatchObject({ image, origin: "pulled" });
    expect(await images.run(image, ["python3", "-c", "print(6*7)"], {})).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining("42"),
    });
    await engine.call("DELETE", `/images/${image}`);
  });
});
