import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { compiledCodeFolder, dataFolder, dataPath } from "../../src/util/data-folder.ts";

afterEach(() => vi.unstubAllEnvs());

const HOME = join(homedir(), ".local", "share", "rlm", "server");

test.each([
  ["RLM_DATA before all others", { RLM_DATA: "/own", XDG_DATA_HOME: "/shared" }, "/own/server"],
  ["XDG_DATA_HOME", { RLM_DATA: "", XDG_DATA_HOME: "/shared" }, "/shared/rlm/server"],
  ["the home folder", { RLM_DATA: undefined, XDG_DATA_HOME: undefined }, HOME],
  ["the home folder where variables are empty", { RLM_DATA: "", XDG_DATA_HOME: "" }, HOME],
  [
    "XDG_DATA_HOME where RLM_DATA depends on the current folder",
    { RLM_DATA: ".rlm", XDG_DATA_HOME: "/shared" },
    "/shared/rlm/server",
  ],
  ["the home folder where XDG_DATA_HOME depends on the current one", { RLM_DATA: "", XDG_DATA_HOME: "data" }, HOME],
])("dataPath() is in %s", (_what, env, expected) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(dataPath("server")).toBe(expected);
});

test.each(["", "relative"])("the home folder is that of the account where HOME is '%s'", (home) => {
  for (const name of ["RLM_DATA", "XDG_DATA_HOME"]) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
  expect(dataPath("server")).toBe(join(userInfo().homedir, ".local", "share", "rlm", "server"));
});

describe("dataFolder()", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-data-"));
  const data = join(folder, "data");
  const server = join(data, "server");
  afterEach(() => rmSync(data, { recursive: true, force: true }));
  afterAll(() => rmSync(folder, { recursive: true }));
  const open = (): string | undefined => {
    vi.stubEnv("RLM_DATA", data);
    return dataFolder("server");
  };

  test("is made for its user only", () => {
    expect(open()).toBe(server);
    for (const path of [data, server]) expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test("is not used where others can write to it", () => {
    mkdirSync(server, { recursive: true });
    for (const mode of [0o777, 0o770, 0o702]) {
      chmodSync(server, mode);
      expect(open()).toBeUndefined();
    }
    chmodSync(server, 0o755);
    expect(open()).toBe(server);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "is not used where another user made it, as a folder or a link (skipped unless root)",
    () => {
      mkdirSync(server, { recursive: true, mode: 0o700 });
      chownSync(server, 64_125, 64_125);
      expect(open()).toBeUndefined();
      rmSync(server, { recursive: true });
      mkdirSync(join(folder, "mine"));
      symlinkSync(join(folder, "mine"), server);
      expect(open()).toBe(server);
      lchownSync(server, 64_125, 64_125);
      expect(open()).toBeUndefined();
    },
  );
});

describe("compiledCodeFolder()", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-data-"));
  const home = join(folder, "home");
  const cache = join(home, "data", "cache");
  beforeEach(() => mkdirSync(home));
  afterEach(() => rmSync(home, { recursive: true }));
  afterAll(() => rmSync(folder, { recursive: true }));
  const open = (): string | undefined => {
    vi.stubEnv("RLM_DATA", join(home, "data"));
    return compiledCodeFolder("cache");
  };

  test("is made for its user only", () => {
    expect(open()).toBe(cache);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
  });

  test("is not used if others can replace it or a folder above it, unless only owners can", () => {
    open();
    for (const path of [home, join(home, "data"), cache]) {
      chmodSync(path, 0o777);
      expect(open()).toBeUndefined();
      chmodSync(path, 0o700);
    }
    chmodSync(home, 0o1777);
    expect(open()).toBe(cache);
  });

  test.skipIf(process.getuid?.() !== 0)("is not made in the home of another user (skipped unless root)", () => {
    chownSync(home, 64_125, 64_125);
    expect(open()).toBeUndefined();
    expect(readdirSync(home)).toEqual([]);
  });

  test("is its real path if it is behind a link, whose owner and folders count as well", () => {
    const real = join(home, "real");
    mkdirSync(join(home, "data"), { mode: 0o700 });
    mkdirSync(real, { mode: 0o700 });
    symlinkSync(real, cache);
    expect(open()).toBe(real);
    chmodSync(join(home, "data"), 0o707);
    expect(open()).toBeUndefined();
  });
});
