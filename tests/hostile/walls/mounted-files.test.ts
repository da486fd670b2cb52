// What code can do to the host by way of a mounted folder, without changing a file there.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, constants, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../internals.ts";
import { python } from "../machine.ts";
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

describe("a socket of the host in a folder mounted for reading", () => {
  const RECEIVER = `import os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777)
print("ready", flush=True)
sys.stdin.read()
server.setblocking(False)
try: print(server.recv(100))
except BlockingIOError: print("nothing")`;

  test("gets nothing from a pair of sockets", async () => {
    const path = join(folder, "datagrams");
    const receiver = spawn(python, ["-I", "-c", RECEIVER, path], { stdio: ["pipe", "pipe", "inherit"] });
    await once(receiver.stdout, "data");
    const target = JSON.stringify(path);
    for (const kind of ["SOCK_DGRAM", "SOCK_RAW"]) {
      const pair = `socket.socketpair(socket.AF_UNIX, socket.${kind})`;
      expect(await attempt(`${pair}[0].sendto(b"out", ${target})`), kind).toMatch(/^.DENIED:PermissionError/);
    }
    for (const kind of ["SOCK_STREAM", "SOCK_SEQPACKET"]) {
      await session.execute(`pair = socket.socketpair(socket.AF_UNIX, socket.${kind} | socket.SOCK_NONBLOCK)`).result;
      expect(await attempt(`pair[0].connect(${target})`), kind).toMatch(/^.DENIED/);
      await attempt(`pair[0].sendto(b"out", ${target})`); // to its peer, or not at all
      await attempt(`pair[1].close()`);
      expect(await attempt(`pair[0].connect(${target})`), `${kind} without its peer`).toMatch(/^.DENIED/);
      expect(await attempt(`pair[0].sendto(b"out", ${target})`), `${kind} without its peer`).toMatch(/^.DENIED/);
    }
    const said = once(receiver.stdout, "data");
    receiver.stdin.end();
    expect(String((await said)[0])).toBe("nothing\n");
  });

  test("pairs of streams and of messages are there for code", async () => {
    const code = `[[a.send(b"x"), b.recv(9)] for kind in (1, 5, 1 | os.O_NONBLOCK) for a, b in [socket.socketpair(1, kind)]]`;
    expect((await session.execute(code).result).value).toEqual({
      "text/plain": "[[1, b'x'], [1, b'x'], [1, b'x']]",
    });
  });
});

async function attempt(code: string): Promise<string> {
  const { value } = await session.execute(`T(lambda: ${code})`).result;
  return value?.["text/plain"] ?? "";
}
