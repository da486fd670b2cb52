// Images with other versions of Python than this machine's own. They are built from the interpreters on the PATH and from those of pyenv.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";
import { Images } from "../../../src/environments/docker/images.ts";
import { createSystemImage } from "../../../src/environments/docker/system-image.ts";
import { openRuntime } from "../../../src/index.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { PYTHON } from "../../open.ts";
import { useDocker } from "../../docker/use-docker.ts";

const WHERE = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])";
const OLDEST = 9;
const NAMES = Array.from({ length: 8 }, (_, index) => `python3.${OLDEST + index}`);
const PYENV = join(homedir(), ".pyenv/versions");

interface Interpreter {
  readonly path: string;
  readonly version: string;
}

const usual = find(PYTHON)?.version;
const ofPyenv = existsSync(PYENV) ? readdirSync(PYENV).map((name) => join(PYENV, name, "bin/python3")) : [];
const found = [...NAMES, ...ofPyenv]
  .flatMap((name) => find(name) ?? [])
  .filter(({ version }) => version !== usual && minor(version) >= OLDEST)
  .toSorted((a, b) => minor(a.version) - minor(b.version));
/** The oldest and the newest. */
const others = found.filter((_, index) => index === 0 || index === found.length - 1);
const obstacle =
  (await useDocker()) ??
  (others.length === 0 ? `no Python of another version than ${usual} is on the PATH or in pyenv` : undefined);
if (obstacle !== undefined) process.stdout.write(`Skipped, images with other versions of Python: ${obstacle}\n`);

function minor(version: string): number {
  return Number(version.replace("3.", ""));
}

/** Undefined: it is not there, or does not start. */
function find(name: string): Interpreter | undefined {
  try {
    const printed = execFileSync(name, ["-I", "-c", WHERE], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const [path = "", version = ""] = printed.trim().split(" ");
    return { path, version };
  } catch {
    return undefined;
  }
}

describe.skipIf(obstacle !== undefined)("an image with Python", { tags: "stress" }, () => {
  let engine: Engine;
  beforeAll(() => {
    engine = new Engine(findAddress(undefined));
    return () => engine.close();
  });

  test.each(others)(
    "$version serves sessions with their forks, checkpoints and commands",
    async ({ path, version }) => {
      const repository = `rlm-test/python-${process.pid}`;
      const { archive, changes } = await createSystemImage({ python: path });
      await new Images(engine).importImage(archive(), { repository, tag: version, changes });
      const image = `${repository}:${version}`;
      try {
        const docker = { image, pull: "never" } as const;
        await using runtime = await openRuntime({ environment: "docker", preload: [], poolSize: 0, docker });
        await using session = await runtime.openSession({ autoCheckpoint: true });
        expect((await run(session, "import sys; '%d.%d' % sys.version_info[:2]")).text).toBe(`'${version}'`);
        await run(session, "numbers = iter(range(10)); next(numbers)");
        await using fork = await session.fork();
        for (const each of [session, fork]) expect((await run(each, "next(numbers)")).text).toBe("1");
        await session.undo();
        expect((await run(session, "next(numbers)")).text).toBe("1");
        const { stdout } = await session.shell("python3 -c 'import sys; print(sys.version_info[1])'");
        expect(`3.${stdout.trim()}`).toBe(version);
        const late = session.execute("while True: pass", { timeoutMs: 500 });
        expect(await late).toMatchObject({ status: "interrupted", reason: "timeout" });
        expect((await run(session, "next(numbers)")).text).toBe("2");
      } finally {
        await engine.call("DELETE", `/images/${image}`, { query: { force: true } }).catch(() => {});
      }
    },
  );
});
