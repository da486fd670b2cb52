import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { dataFolder, dataPath } from "../../src/util/data-folder.ts";

afterEach(() => vi.unstubAllEnvs());

const HOME = join(homedir(), ".local", "share", "rlm", "server");

test.each([
  ["RLM_DATA before all others", { RLM_DATA: "/own", XDG_DATA_HOME: "/shared" }, "/own/server"],
  ["XDG_DATA_HOME", { RLM_DATA: "", XDG_DATA_HOME: "/shared" }, "/shared/rlm/server"],
  ["the home folder", { RLM_DATA: undefined, XDG_DATA_HOME: undefined }, HOME],
  ["the home folder where variables are empty", { RLM_DATA: "", XDG_DATA_HOME: "" }, HOME],
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
