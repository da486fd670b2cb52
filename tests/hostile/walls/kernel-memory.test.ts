// Memory and work of the kernel that no limit counts: code gets none of it, and programs find other ways.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../../src/index.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const { prelude_python: prelude } = readCorpus("protocol-probes.json");
const [EPERM, ENOSYS] = [1, 38];

let stage: OpenStage;
let session: Session;

beforeAll(async () => {
  stage = await openStage();
  session = await stage.runtime.openSession();
  const setup = `${prelude}
import shutil
open("file", "wb").write(b"x" * 5000)
file = os.open("file", os.O_RDWR)
buffer = ctypes.create_string_buffer(8192)
reader, writer = os.pipe()
one, two = socket.socketpair()
def errno_of(call):
    try: call()
    except OSError as e: return e.errno
    return 0`;
  (await session.execute(setup).result).unwrap();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

describe("the disks of the host", () => {
  test("cannot be kept busy by writing back everything", async () => {
    expect(await errnoOf(`SC(NR(306,267), file)`)).toBe(ENOSYS);
    expect(await errnoOf(`SC(NR(16,29), file, 0x9408)`), "as btrfs does").toBe(EPERM);
    // `sync` has no result; that it does nothing is shown by test_seccomp.py.
    expect(await shell("sync && sync file && echo done")).toBe("done\n");
  });

  test("get no asynchronous requests, which are counted for the whole machine", async () => {
    expect(await errnoOf(`SC(NR(206,0), 8, ctypes.byref(ctypes.c_ulong()))`)).toBe(ENOSYS);
  });
});

async function errnoOf(code: string): Promise<number> {
  const { value, error } = await session.execute(`errno_of(lambda: ${code})`).result;
  if (error !== undefined) throw new Error(error.traceback);
  return Number(value?.["text/plain"]);
}

async function shell(command: string): Promise<string> {
  const { stdout, stderr } = await stage.runtime.shell(command, { session }).result;
  return stdout + stderr;
}
