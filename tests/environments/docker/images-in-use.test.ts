// What an image brings along does not reach sessions: its environment variables, and volumes in place of our code.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";
import { findSystemImage } from "../../../src/environments/docker/worker-image.ts";
import { openRuntime } from "../../../src/index.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { useDocker } from "../../docker/use-docker.ts";

const unavailable = await useDocker();
if (unavailable !== undefined) process.stdout.write(`Skipped, images with settings of their own: ${unavailable}\n`);

describe.skipIf(unavailable !== undefined)("an image with settings of its own", () => {
  const name = `rlm-test-settings:${process.pid}`;
  let engine: Engine;
  beforeAll(async () => {
    engine = new Engine(findAddress(undefined));
    const base = await findSystemImage(engine);
    const { Id: container } = (await engine.call("POST", "/containers/create", {
      json: { Image: base?.id, Cmd: ["true"] },
    })) as { readonly Id: string };
    const [repo, tag] = name.split(":") as [string, string];
    const json = {
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin:/of/the/image", "SECRET_TOKEN=SECRET", "PYTHONPATH=/tmp", "HOME=/root"],
      Volumes: { "/opt": {}, "/data": {} },
    };
    await engine.call("POST", "/commit", { query: { container, repo, tag }, json });
    await engine.call("DELETE", `/containers/${container}`, { query: { force: true } });
  });
  afterAll(async () => {
    await engine.call("DELETE", `/images/${name}`, { query: { force: true } }).catch(() => {});
    engine.close();
  });

  test(
    "gives a session its PATH, no other variable, and no volume in place of our code",
    { tags: "stress" },
    async () => {
      await using runtime = await openRuntime({
        environment: "docker",
        preload: [],
        poolSize: 0,
        docker: { image: name, pull: "never" },
      });
      const session = await runtime.openSession();
      const code = "import os; sorted(os.environ.items()), open('/proc/self/environ').read()";
      const { text } = await run(session, code);
      expect(text).toContain(":/of/the/image");
      expect(text).not.toMatch(/SECRET|PYTHONPATH|\/root/);
      expect((await session.shell("env; cat /proc/self/environ | tr '\\0' '\\n'")).stdout).not.toMatch(
        /SECRET|PYTHONPATH/,
      );
      const writing = await session.execute("open('/data/x', 'w')");
      expect(writing.status).toBe("error");
    },
  );
});
