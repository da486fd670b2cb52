// The folder that a container shares with the host, against a container that changes it.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSocketFolder } from "../../../../src/environments/docker/transport/socket-link.ts";
import { removeFolder } from "../../../../src/environments/docker/transport/remove-folder.ts";

const NEVER = new Promise<never>(() => {});

function makeFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "rlm-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function makePipe(path: string): void {
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
}

describe.skipIf(process.platform !== "linux")("the folder that a container shares with the host", () => {
  test("can be written only where pipes are, and a link in place of that folder is not followed", async () => {
    using elsewhere = makeFolder();
    makePipe(join(elsewhere.path, "5"));
    const shared = await openSocketFolder();
    const client = connect(join(shared.path, "control"));
    try {
      const pipes = join(shared.path, "pipes");
      expect([statSync(shared.path).mode & 0o7777, statSync(pipes).mode & 0o7777]).toEqual([0o755, 0o1777]);
      const link = shared.link(await shared.connected, NEVER, () => {});
      const ends = link.pipes({} as never);
      renameSync(pipes, `${pipes}-moved`);
      symlinkSync(elsewhere.path, pipes);
      expect(() => ends.open([[5, "read"]])).toThrow(/ENOENT/);
      symlinkSync(join(elsewhere.path, "5"), join(`${pipes}-moved`, "5"));
      expect(() => ends.open([[5, "read"]])).toThrow(/ELOOP/);
      makePipe(join(`${pipes}-moved`, "6"));
      ends
        .open([[6, "read"]])[0]
        ?.reader(() => {})
        .close();
      shared.remove();
      expect(() => ends.open([[6, "read"]])).toThrow(/the container has ended/);
      expect(existsSync(dirname(shared.path))).toBe(false);
      expect(readdirSync(elsewhere.path)).toEqual(["5"]);
    } finally {
      client.destroy();
      shared.remove();
    }
  });

  test("is removed with all that is in it, and nothing that links in it lead to", () => {
    using kept = makeFolder();
    using folder = makeFolder();
    writeFileSync(join(kept.path, "file"), "");
    symlinkSync(kept.path, join(folder.path, "link"));
    const deep = join(folder.path, ...Array.from({ length: 150 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    symlinkSync(kept.path, join(deep, "link"));
    writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0xfe])]), "");
    makePipe(join(folder.path, "pipe"));
    removeFolder(folder.path);
    expect(existsSync(folder.path)).toBe(false);
    expect(readdirSync(kept.path)).toEqual(["file"]);
    symlinkSync(kept.path, folder.path);
    removeFolder(folder.path);
    expect(readdirSync(kept.path)).toEqual(["file"]);
  });
});
