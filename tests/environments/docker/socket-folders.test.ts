// Folders with the socket of a container: whose they are, and how they are removed.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { thisProcess } from "../../../src/environments/docker/owner.ts";
import { openSocketFolder, removeStaleSocketFolders } from "../../../src/environments/docker/transport/socket-link.ts";
import { EnvironmentUnavailableError } from "../../../src/errors.ts";
import { remove } from "../../remove.ts";

const { pid: ended } = spawnSync("true");
let temp: string;

beforeEach(() => {
  temp = realpathSync(mkdtempSync(join(tmpdir(), "rlm-test-")));
  vi.stubEnv("TMPDIR", temp);
});
afterEach(() => {
  vi.unstubAllEnvs();
  remove(temp);
});

/** A folder as another process would have made it. Its name is that of one of ours, with changes. */
async function makeFolder(change: (parts: string[]) => void, place = temp): Promise<string> {
  const shared = await openSocketFolder();
  const parts = basename(dirname(shared.path)).split(".");
  shared.remove();
  change(parts);
  const path = join(place, parts.join("."));
  mkdirSync(join(path, "s"), { recursive: true });
  onTestFinished(() => remove(path));
  return path;
}

const PID_NAMESPACE = 2;
const PID = 3;

test("a folder of a process that is gone is removed, those of others stay", async () => {
  const stale = await makeFolder((parts) => (parts[PID] = String(ended)));
  const foreign = await makeFolder((parts) => {
    parts[PID_NAMESPACE] = "0123abcd";
    parts[PID] = String(ended);
  });
  const shared = await openSocketFolder();
  removeStaleSocketFolders();
  expect([existsSync(stale), existsSync(foreign), existsSync(shared.path)]).toEqual([false, true, true]);
  shared.remove();
  expect(existsSync(dirname(shared.path))).toBe(false);
});

/** Runs as an ordinary user, for whom a container can make folders that cannot be removed. */
test.skipIf(process.getuid?.() !== 0)("what a container has closed stays, and disturbs nothing", async () => {
  const ordinary = 1000;
  // A process that changes its user has no TMPDIR.
  const closed = await makeFolder((parts) => (parts[PID] = String(ended)), "/tmp");
  const other = await makeFolder((parts) => (parts[PID] = String(ended)), "/tmp");
  const own = await openSocketFolder();
  for (const folder of [join(closed, "s"), own.path]) {
    mkdirSync(join(folder, "x"));
    writeFileSync(join(folder, "x/file"), "");
    chmodSync(join(folder, "x"), 0o500);
    for (const path of [folder, dirname(folder)]) chownSync(path, ordinary, ordinary);
  }
  chownSync(other, ordinary, ordinary);
  chmodSync(temp, 0o777);
  const self = thisProcess(); // which a process that changes its user cannot know
  const uid = process.geteuid?.() ?? 0;
  process.seteuid?.(ordinary);
  vi.spyOn(process, "getuid").mockReturnValue(ordinary);
  onTestFinished(() => void vi.restoreAllMocks());
  try {
    removeStaleSocketFolders(self);
    own.remove();
  } finally {
    process.seteuid?.(uid);
  }
  expect([closed, join(own.path, "x/file"), other].map((path) => existsSync(path))).toEqual([true, true, false]);
});

test("a temporary folder with a long path is not used", async () => {
  const long = join(temp, "x".repeat(90));
  mkdirSync(long);
  vi.stubEnv("TMPDIR", long);
  const shared = await openSocketFolder();
  onTestFinished(() => shared.remove());
  expect(dirname(dirname(shared.path))).toBe("/tmp");
  expect(readdirSync(shared.path).toSorted()).toEqual(["control", "pipes"]);
  expect(readdirSync(temp)).toEqual([basename(long)]);
});

test("a temporary folder that does not exist is a user-facing error", async () => {
  vi.stubEnv("TMPDIR", join(temp, "none"));
  await expect(openSocketFolder()).rejects.toThrow(EnvironmentUnavailableError);
});
