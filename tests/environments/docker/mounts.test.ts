// Folders of the host in containers: what was checked is what is mounted, by whom it can be used, and what is never mounted.

import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RuntimeOptions } from "../../../src/api/local.ts";
import { holdMounts } from "../../../src/environments/docker/held-mounts.ts";
import { checkPrograms, toDockerMounts } from "../../../src/environments/docker/docker-mounts.ts";
import { OWN_FOLDERS } from "../../../src/environments/docker/paths.ts";
import { REPLSecurityError } from "../../../src/errors.ts";
import { openRuntime } from "../../../src/index.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { useDocker } from "../../docker/use-docker.ts";
import { openEngineProxy } from "./engine-proxy.ts";

const unavailable = await useDocker();
if (unavailable !== undefined) process.stdout.write(`Skipped, mounts in containers: ${unavailable}\n`);
const USER = 1000;
const ROOT_GROUP = 0;

function open(options: RuntimeOptions = {}) {
  return openRuntime({ environment: "docker", preload: [], poolSize: 0, ...options });
}

interface Folder extends Disposable {
  readonly path: string;
}

function makeFolder(uid = 0, gid = uid): Folder {
  const path = mkdtempSync(join(tmpdir(), "rlm-mount-"));
  chmodSync(path, 0o755);
  chownSync(path, uid, gid);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const rw = (path: string) => ({ path, mode: "rw" as const });
const ro = (path: string) => ({ path, mode: "ro" as const });

describe.skipIf(unavailable !== undefined || process.getuid?.() !== 0)("mounts in containers", () => {
  test("that can be written run the session as the owner of the folder", async () => {
    using folder = makeFolder(USER);
    await using runtime = await open();
    const session = await runtime.openSession({ mounts: [rw(folder.path)] });
    await run(session, `open(${JSON.stringify(join(folder.path, "made"))}, "w").write("x"); 1`);
    expect(statSync(join(folder.path, "made")).uid).toBe(USER);
    expect((await run(session, "import os; os.getuid()")).text).toBe(String(USER));
  });

  test("never give the group of root", async () => {
    using folder = makeFolder(USER, ROOT_GROUP);
    await using runtime = await open();
    const session = await runtime.openSession({ mounts: [rw(folder.path)] });
    expect((await run(session, "import os; os.getuid(), os.getresgid(), os.getgroups()")).text).toMatch(
      /^\(1000, \(65534, 65534, 65534\), \[(?:65534)?\]\)$/,
    );
  });

  test("of root, or of several users, are refused when they can be written", async () => {
    using folder = makeFolder();
    using other = makeFolder(USER);
    using third = makeFolder(USER + 1);
    await using runtime = await open();
    await expect(runtime.openSession({ mounts: [rw(folder.path)] })).rejects.toThrow(
      /belongs to root.*chown -R USER:GROUP/,
    );
    await expect(runtime.openSession({ mounts: [rw(other.path), rw(third.path)] })).rejects.toThrow(REPLSecurityError);
  });

  test("cover secrets, and cannot be written where they are read-only", async () => {
    using folder = makeFolder();
    writeFileSync(join(folder.path, ".env"), "SECRET=1");
    mkdirSync(join(folder.path, ".ssh"));
    writeFileSync(join(folder.path, ".ssh/id_rsa"), "SECRET");
    writeFileSync(join(folder.path, ".ssh/inner.env"), "SECRET");
    symlinkSync(".ssh/inner.env", join(folder.path, "link.env"));
    mkdirSync(join(folder.path, "closed"), { mode: 0o700 });
    writeFileSync(join(folder.path, "closed/.env"), "SECRET");
    writeFileSync(join(folder.path, "data"), "visible");
    await using runtime = await open();
    const session = await runtime.openSession({ mounts: [{ ...ro(folder.path), hideSecrets: true }] });
    const read = (name: string) => `open(${JSON.stringify(join(folder.path, name))}).read()`;
    expect((await run(session, read("data"))).text).toBe("'visible'");
    for (const name of [".env", ".ssh/id_rsa", "link.env", "closed/.env"]) {
      const result = await session.execute(read(name));
      expect(JSON.stringify(result)).not.toContain("SECRET");
    }
    const writing = await session.execute(`open(${JSON.stringify(join(folder.path, "data"))}, "w")`);
    expect(writing.status).toBe("error");
    expect(readFileSync(join(folder.path, "data"), "utf8")).toBe("visible");
  });

  /** Opens a session, and calls `meanwhile` when the engine is about to start its container. */
  async function openWhile(mounts: readonly ReturnType<typeof rw | typeof ro>[], meanwhile: () => void) {
    let isArmed = false;
    await using proxy = await openEngineProxy(process.env["DOCKER_HOST"] ?? "", (line) => {
      if (!isArmed || !line.includes("/start")) return;
      isArmed = false;
      meanwhile();
    });
    await using runtime = await open({ docker: { host: proxy.host } });
    await (await runtime.openSession()).close();
    isArmed = true;
    const session = await runtime.openSession({ mounts }).catch((error: unknown) => error);
    expect(isArmed).toBe(false);
    return session;
  }

  test.each(["link", "folder"])("are refused if they were replaced by a %s while the container started", async (by) => {
    using shared = makeFolder(USER);
    using elsewhere = makeFolder(USER);
    const data = join(shared.path, "data");
    mkdirSync(data);
    chownSync(data, USER, USER);
    const error = await openWhile([rw(data)], () => {
      renameSync(data, `${data}.old`);
      if (by === "link") symlinkSync(elsewhere.path, data);
      else {
        mkdirSync(data);
        chownSync(data, USER, USER);
      }
    });
    expect(error).toBeInstanceOf(REPLSecurityError);
    expect(error).toMatchObject({ action: "mount", target: data, environment: "docker" });
    expect((error as Error).message).toMatch(/it was replaced while the container started/);
  });

  test("are refused if a secret in them was replaced while the container started", async () => {
    using folder = makeFolder();
    const [path, other] = [join(folder.path, "sub"), join(folder.path, "other")];
    for (const each of [path, other]) mkdirSync(each);
    writeFileSync(join(path, ".env"), "SECRET=1");
    // A link is followed when the cover is made, so that another file is covered.
    const error = await openWhile([{ ...ro(folder.path), hideSecrets: true } as never], () => {
      renameSync(join(path, ".env"), join(other, "kept"));
      writeFileSync(join(other, "decoy"), "");
      symlinkSync("../other/decoy", join(path, ".env"));
    });
    expect((error as Error).message).toMatch(/a secret in it was replaced while the container started/);
  });

  test("are held from the check on: a link that appears then is refused, and the owner is that of what is held", () => {
    using folder = makeFolder(USER);
    const [data, old] = [join(folder.path, "data"), join(folder.path, "old")];
    mkdirSync(data);
    chownSync(data, USER, USER);
    using held = holdMounts([rw(data)]);
    renameSync(data, old);
    symlinkSync("/etc", data);
    expect(toDockerMounts(held.mounts, OWN_FOLDERS).user).toMatchObject({ uid: USER, gid: USER });
    const { dev, ino } = statSync(old, { bigint: true });
    expect(held.mounts[0]?.identity).toBe(`${dev}:${ino}`);
    expect(() => holdMounts([rw(data)])).toThrow(/removed or replaced/);
    expect(() => holdMounts([ro(join(data, "passwd"))])).toThrow(/removed or replaced/);
  });

  test("never hide what the container runs", () => {
    using folder = makeFolder(USER);
    using held = holdMounts([rw(folder.path)]);
    const at = (path: string) => held.mounts.map((mount) => ({ ...mount, path }));
    for (const path of ["/box", "/.rlm-runtime", "/.rlm-runtime/python/worker"])
      expect(() => toDockerMounts(at(path), OWN_FOLDERS)).toThrow(/which the runtime uses/);
    expect(() => checkPrograms([ro("/opt")], "/opt/conda/bin/python3")).toThrow(/it would hide the image's Python/);
    expect(() => checkPrograms([rw("/usr/local/lib")], "/usr/local/bin/python3")).toThrow(/Mount it read-only/);
    expect(() => checkPrograms([rw("/opt"), ro("/usr/share/dict")], "/usr/local/bin/python3")).not.toThrow();
  });
});
