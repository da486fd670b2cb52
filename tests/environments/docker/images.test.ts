// Images that sessions are made of: those that do harm, and those that are not needed any more.

import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { RuntimeOptions } from "../../../src/api/local.ts";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";
import { tarEnd, tarHeader, tarPadding } from "../../../src/environments/docker/image/tar.ts";
import { findImage, Images } from "../../../src/environments/docker/images.ts";
import { findSystemImage } from "../../../src/environments/docker/worker-image.ts";
import { openRuntime } from "../../../src/index.ts";
import { remove } from "../../remove.ts";
import { sitePackages } from "../../docker/image-python.ts";
import { useDocker } from "../../docker/use-docker.ts";

const unavailable = await useDocker();
if (unavailable !== undefined) process.stdout.write(`Skipped, images of sessions: ${unavailable}\n`);
const WORKER = "dev.rlm-runtime.kind=worker";
/** Python runs a line of such a file that starts with an import when it starts, however it is started. */
const startupFile = (): string => `${sitePackages().slice(1)}/startup.pth`;
const SLEEP = "import time; time.sleep(1000)";
const SLEEP_IN_SESSIONS = `import time; time.sleep(1000 if b"forkserver" in open("/proc/self/cmdline", "rb").read() else 0)`;

describe.skipIf(unavailable !== undefined)("images of sessions", { tags: "stress" }, () => {
  let engine: Engine;
  let temp: string;
  let count = 0;

  beforeAll(() => {
    engine = new Engine(findAddress(undefined));
    return () => engine.close();
  });
  beforeEach(() => {
    temp = mkdtempSync(join(tmpdir(), "rlm-images-"));
    vi.stubEnv("TMPDIR", temp);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    remove(temp);
  });

  const open = (options: RuntimeOptions) =>
    openRuntime({ environment: "docker", preload: [], poolSize: 0, ...options });

  /** This machine's Python and a line that it runs when it starts. Removed after the test, with what was made of it. */
  async function makeImage(line: string, config: object = {}): Promise<string> {
    const base = await findSystemImage(engine);
    count += 1;
    const [repo, tag] = [`rlm-test/images-${process.pid}`, String(count)];
    const json = { Image: base?.id, Cmd: ["true"] };
    const { Id } = (await engine.call("POST", "/containers/create", { json })) as { Id: string };
    const file = { path: startupFile(), kind: "file", mode: 0o644, mtime: 0, size: Buffer.byteLength(line) } as const;
    const body = Buffer.concat([tarHeader(file), Buffer.from(line), tarPadding(file.size), tarEnd()]);
    await engine.call("PUT", `/containers/${Id}/archive`, { query: { path: "/" }, body });
    await engine.call("POST", "/commit", { query: { container: Id, repo, tag }, json: config });
    await engine.call("DELETE", `/containers/${Id}`);
    const name = `${repo}:${tag}`;
    onTestFinished(async () => {
      const found = await findImage(engine, name);
      if (found === undefined) return;
      for (const { id, base: of } of await workers()) if (of === found.id) await engine.call("DELETE", `/images/${id}`);
      await engine.call("DELETE", `/images/${name}`);
    });
    return name;
  }

  async function workers(): Promise<readonly { readonly id: string; readonly base: string | undefined }[]> {
    const query = { filters: JSON.stringify({ label: [WORKER] }) };
    const found = (await engine.call("GET", "/images/json", { query })) as readonly {
      readonly Id: string;
      readonly Labels: Readonly<Record<string, string>>;
    }[];
    return found.map(({ Id, Labels }) => ({ id: Id, base: Labels["dev.rlm-runtime.base"] }));
  }

  /** Containers of this process, which tests of other files do not share. */
  async function containers(): Promise<readonly string[]> {
    const query = { all: true, filters: JSON.stringify({ label: ["dev.rlm-runtime.kind"] }) };
    const found = (await engine.call("GET", "/containers/json", { query })) as readonly {
      readonly Id: string;
      readonly Labels: Readonly<Record<string, string>>;
    }[];
    return found
      .filter(({ Labels }) => Labels["dev.rlm-runtime.owner"]?.includes(`"pid":${process.pid},`))
      .map(({ Id }) => Id);
  }

  test.each([
    ["when it is prepared", "build", SLEEP],
    ["in sessions", "session", SLEEP_IN_SESSIONS],
  ])("whose Python sleeps %s do not keep a runtime from closing, and leave nothing", async (_, kind, line) => {
    const image = await makeImage(line);
    const runtime = await open({ docker: { image } });
    const failure = runtime.openSession().catch((error: unknown) => error);
    const query = { filters: JSON.stringify({ label: [`dev.rlm-runtime.kind=${kind}`], ancestor: [image] }) };
    await expect.poll(() => engine.call("GET", "/containers/json", { query }), { interval: 20 }).toHaveLength(1);
    await runtime.close();
    expect(await failure).toMatchObject({ why: "the runtime is closed" });
    expect(await containers()).toEqual([]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("whose Python is too old are refused, with the version", async () => {
    const image = await makeImage("import sys; sys.version_info = (3, 8, 18, 'final', 0)");
    await using runtime = await open({ docker: { image } });
    await expect(runtime.openSession()).rejects.toMatchObject({
      environment: "docker",
      why: `image '${image}' has Python 3.8.18, and sessions need 3.9 or newer`,
      fix: "Choose a newer image, such as python:3.11-slim",
    });
    expect(await containers()).toEqual([]);
  });

  test("without Python are refused", async () => {
    const archive = Readable.from([tarHeader({ path: "empty", kind: "folder", mode: 0o755, mtime: 0 }), tarEnd()]);
    const repository = `rlm-test/empty-${process.pid}`;
    await new Images(engine).importImage(archive, { repository, tag: "1", changes: [] });
    onTestFinished(async () => void (await engine.call("DELETE", `/images/${repository}:1`)));
    await using runtime = await open({ docker: { image: `${repository}:1` } });
    await expect(runtime.openSession()).rejects.toMatchObject({
      environment: "docker",
      why: `image '${repository}:1' has no python3`,
      fix: "Choose an image with Python 3.9 or newer, such as python:3.11-slim",
    });
    expect(await containers()).toEqual([]);
  });

  test("may have a volume where programs are usually added", async () => {
    const image = await makeImage("", { Volumes: { "/opt": {} } });
    await using runtime = await open({ docker: { image } });
    await using session = await runtime.openSession();
    expect((await session.execute("print(6*7)")).stdout).toBe("42\n");
  });

  test.skipIf(!existsSync("/opt"))("keep our code where a folder is mounted over that of programs", async () => {
    await using runtime = await open({});
    await using session = await runtime.openSession({ mounts: [{ path: "/opt", mode: "ro" }] });
    expect((await session.execute("print(6*7)")).stdout).toBe("42\n");
  });

  test("are removed when their base has no name left", async () => {
    const [first, second] = [await makeImage("#1"), await makeImage("#2")];
    await using runtime = await open({ docker: { image: first } });
    await (await runtime.openSession()).close();
    const base = (await findImage(engine, first))?.id ?? "";
    expect((await workers()).filter((image) => image.base === base)).toHaveLength(1);
    await engine.call("DELETE", `/images/${first}`);
    await using other = await open({ docker: { image: second } });
    await (await other.openSession()).close();
    expect((await workers()).filter((image) => image.base === base)).toEqual([]);
  });

  test("that somebody removes are made again", async () => {
    const image = await makeImage("#3");
    await using runtime = await open({ docker: { image } });
    await (await runtime.openSession()).close();
    const base = (await findImage(engine, image))?.id;
    for (const { id } of (await workers()).filter((each) => each.base === base))
      await engine.call("DELETE", `/images/${id}`);
    await using session = await runtime.openSession();
    expect((await session.execute("print(6*7)")).stdout).toBe("42\n");
  });
});
