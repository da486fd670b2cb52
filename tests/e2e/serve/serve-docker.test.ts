// The built `rlm serve --env docker`.

import { describe, expect, test } from "vitest";
import { LOCAL_CAPABILITIES } from "../../environments/open-local.ts";
import { findDockerEngine } from "../../find-docker-engine.ts";
import { run, toText } from "../../../src/testing/contract/drive.ts";
import { describeServed } from "./describe-served.ts";

const engine = await findDockerEngine();
const DOCKER_HOST = "host" in engine ? engine.host : "";

describe.skipIf("why" in engine)(`docker${"why" in engine ? ` (skipped: ${engine.why})` : ""}`, () => {
  describeServed("docker", { capabilities: LOCAL_CAPABILITIES, env: { DOCKER_HOST } }, (served) => {
    test("HTTP forks a session, with its state and its files", async () => {
      await served().ask("sessions/s/execute", {
        code: "g = iter([1, 2, 3]); next(g); open('f', 'w').write('x'); None",
      });
      const forked = await served().ask("sessions/s/fork", { id: "copy" });
      expect([forked.status, await forked.json()]).toEqual([
        201,
        expect.objectContaining({ id: "copy", environment: "docker", tier: "container" }),
      ]);
      const result = await served().ask("sessions/copy/execute", { code: "next(g), open('f').read()" });
      expect(await result.json()).toMatchObject({ value: { "text/plain": "(2, 'x')" } });
    });

    test("the client forks, rewinds, runs commands and follows changes of files", async () => {
      await using session = await served().runtime.openSession();
      await run(session, "x = 1");
      const checkpoint = await session.checkpoint();
      await run(session, "x = 2");
      await using copy = await session.fork();
      await session.rewind(checkpoint);
      expect([(await run(copy, "x")).text, (await run(session, "x")).text]).toEqual(["2", "1"]);
      await using watch = await session.files.watch();
      expect(await session.shell("echo from bash > made")).toMatchObject({ status: "completed", exitCode: 0 });
      for await (const change of watch) if (change.path === "made") break;
      expect(toText(await session.files.read("made"))).toBe("from bash\n");
    });
  });
});
