// Which folders sessions see, and what may be opened in them while code in a session moves things around.

import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HostPaths, toMounts } from "../../../../src/server/mcp/calls/host-paths.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "rlm-folders-")));
  for (const name of ["project", "project/data", "other", "hidden", "sessions"]) mkdirSync(join(root, name));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

describe("toMounts", () => {
  test("includes the folder that the server was started in, read-only and without its secrets", () => {
    expect(toMounts(join(root, "project"), [])).toEqual([
      { path: join(root, "project"), mode: "ro", hideSecrets: true, isOptional: true },
    ]);
  });

  test.each([
    ["the root", "/"],
    ["the home directory", homedir()],
    ["what is above it", dirname(homedir())],
    ["/tmp", "/tmp"],
  ])("does not include %s", (_, folder) => {
    expect(toMounts(folder, [])).toEqual([]);
  });

  test("includes nothing twice", () => {
    const project = join(root, "project");
    expect(toMounts(project, [{ path: project, mode: "rw" }])).toEqual([
      { path: project, mode: "rw", name: "project" },
    ]);
    expect(toMounts(join(project, "data"), [{ path: project, mode: "ro" }])).toEqual([
      { path: project, mode: "ro", name: "project" },
    ]);
    symlinkSync(project, join(root, "link"));
    expect(
      toMounts(join(root, "other"), [
        { path: join(root, "link"), mode: "ro" },
        { path: project, mode: "rw" },
      ]),
    ).toEqual([
      { path: join(root, "other"), mode: "ro", hideSecrets: true, isOptional: true },
      { path: project, mode: "rw", name: "project" },
    ]);
  });

  test("refuses a requested folder that is not allowed", () => {
    expect(() => toMounts(root, [{ path: "/proc/1", mode: "ro" }])).toThrow("Cannot mount '/proc/1'");
    expect(() => toMounts(root, [{ path: join(root, "gone"), mode: "ro" }])).toThrow("it does not exist");
  });
});

describe("an opened file", () => {
  const open = (): HostPaths =>
    new HostPaths({ mounts: [{ path: join(root, "project"), mode: "rw" }], sessionFiles: join(root, "sessions") });

  test("stays the checked one when its folder becomes a link to another", () => {
    using place = open().openForSaving(join(root, "project", "data", "s.rlm"));
    renameSync(join(root, "project", "data"), join(root, "project", "moved"));
    symlinkSync(join(root, "hidden"), join(root, "project", "data"));
    writeFileSync(place.path, "state");
    expect(readFileSync(join(root, "project", "moved", "s.rlm"), "utf8")).toBe("state");
    expect(() => readFileSync(join(root, "hidden", "s.rlm"))).toThrow("ENOENT");
  });

  test("for reading stays the checked one when its name becomes a link to another", async () => {
    writeFileSync(join(root, "project", "data.txt"), "shown");
    writeFileSync(join(root, "hidden", "secret"), "hidden");
    using place = await open().openVisible(join(root, "project", "data.txt"));
    rmSync(join(root, "project", "data.txt"));
    symlinkSync(join(root, "hidden", "secret"), join(root, "project", "data.txt"));
    expect(readFileSync(place?.path ?? "", "utf8")).toBe("shown");
  });

  test("may be reached by a link into an allowed folder", async () => {
    writeFileSync(join(root, "project", "data", "real.txt"), "text");
    symlinkSync("data/real.txt", join(root, "project", "link.txt"));
    using place = await open().openVisible(join(root, "project", "link.txt"));
    expect(readFileSync(place?.path ?? "", "utf8")).toBe("text");
  });

  test("is a file, not a folder or a pipe", async () => {
    await expect(open().openVisible(join(root, "project", "data"))).rejects.toThrow("is not a file");
  });

  test("is not one that is hidden from sessions, by whatever path", async () => {
    const project = join(root, "project");
    const files = { ".env": "KEY=1", "real.txt": "KEY=2", "data/shown.env": "KEY=3", "data/notes": "text" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    symlinkSync(".env", join(project, "other-name"));
    symlinkSync("real.txt", join(project, ".env.production"));
    const mounts = [...toMounts(project, []), { path: join(project, "data"), mode: "ro" as const }];
    const paths = new HostPaths({ mounts, sessionFiles: join(root, "sessions"), startedIn: project });
    for (const name of [".env", "other-name", "real.txt", ".env.production", "data/../.env"]) {
      await expect(paths.openVisible(name), name).rejects.toThrow("by its name it holds secrets, so it is hidden");
      await expect(paths.openForLoading(join(project, name)), name).rejects.toThrow("so it is hidden");
    }
    for (const name of ["data/shown.env", "data/notes"]) {
      using file = await paths.openVisible(name); // in a folder that was mounted explicitly
      expect(readFileSync(file?.path ?? "", "utf8")).toBe(files[name as keyof typeof files]);
    }
  });
});
