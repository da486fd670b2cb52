// What code can do to the host by way of a mounted folder, without changing a file there.

import { chmodSync, closeSync, constants, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../../src/index.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const EINVAL = /^.DENIED:OSError:\[Errno 22\]/;

let stage: OpenStage;
let session: Session;
let folder: string;

beforeAll(async () => {
  stage = await openStage();
  folder = join(stage.canaries.scratch, "open", "mounted");
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "text");
  chmodSync(folder, 0o777);
  chmodSync(join(folder, "file"), 0o666);
  session = await stage.runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });
  await session.execute(`${prelude}\nfile = os.open(${JSON.stringify(join(folder, "file"))}, os.O_RDONLY)`).result;
});

afterAll(() => stage?.[Symbol.asyncDispose]());

describe("a file of the host in a folder mounted for reading", () => {
  test("takes no lease, which would make its writer wait", async () => {
    for (const lease of ["F_RDLCK", "F_WRLCK"]) {
      expect(await attempt(`fcntl.fcntl(file, 1024, fcntl.${lease})`), lease).toMatch(EINVAL);
    }
    closeSync(openSync(join(folder, "file"), constants.O_WRONLY | constants.O_NONBLOCK));
  });

  test("sends no signal for what happens in its folder", async () => {
    const open = `os.open(${JSON.stringify(folder)}, os.O_RDONLY)`;
    expect(await attempt(`fcntl.fcntl(${open}, 1026, 0x80000000 | 2)`)).toMatch(EINVAL);
  });

  test("takes no lock that belongs to no process", async () => {
    const lock = `struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0)`;
    for (const command of [37, 38]) expect(await attempt(`fcntl.fcntl(file, ${command}, ${lock})`)).toMatch(EINVAL);
  });

  test("can be locked, as the documentation says", async () => {
    expect(await attempt(`fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)`)).toMatch(/^.ESCAPED/);
    expect(await attempt(`fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)`)).toMatch(/^.ESCAPED/);
  });
});

async function attempt(code: string): Promise<string> {
  const { value } = await session.execute(`T(lambda: ${code})`).result;
  return value?.["text/plain"] ?? "";
}
