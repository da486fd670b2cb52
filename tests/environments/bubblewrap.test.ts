import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { findBubblewrap } from "../../src/environments/bubblewrap.ts";
import { adviseOn } from "../../src/environments/linux-advice.ts";

const ORDINARY = 1000;
const isRoot = process.getuid?.() === 0;

describe("findBubblewrap", () => {
  let program: string;
  beforeAll(() => {
    program = join(mkdtempSync(join(tmpdir(), "bubblewrap-")), "bwrap");
    copyFileSync("/bin/true", program);
  });
  afterAll(() => rmSync(join(program, ".."), { recursive: true }));

  test("is for ordinary users", () => {
    expect(findBubblewrap(undefined, 0)).toMatchObject({ why: expect.stringContaining("ordinary users") });
  });

  test("finds the one of the system, or names the package", () => {
    const expected = existsSync("/usr/bin/bwrap")
      ? { path: "/usr/bin/bwrap" }
      : { fix: expect.stringContaining("apt install bubblewrap") };
    expect(findBubblewrap(undefined, ORDINARY)).toMatchObject(expected);
  });

  test.skipIf(!isRoot)("takes another that belongs to root, and none that others can write", () => {
    chmodSync(program, 0o755);
    expect(findBubblewrap(program, ORDINARY)).toEqual({ path: program });
    for (const mode of [0o775, 0o757]) {
      chmodSync(program, mode);
      expect(findBubblewrap(program, ORDINARY)).toMatchObject({ why: expect.stringContaining("others than root") });
    }
  });

  test.each(["bwrap", "./bwrap", "/nowhere/bwrap", "/usr/bin"])("refuses %s", (path) => {
    expect(findBubblewrap(path, ORDINARY)).toMatchObject({ why: expect.stringContaining("no absolute path") });
  });
});

describe("advice", () => {
  const denied = "bwrap: setting up uid map: Permission denied";

  test("where privileges are taken away, bubblewrap is named to ordinary users, and to be installed where it is missing", () => {
    const advise = (): string | undefined => adviseOn("set the host name", "[Errno 1] Operation not permitted", false);
    using user = vi.spyOn(process, "getuid").mockReturnValue(ORDINARY);
    vi.stubEnv("RLM_BWRAP", "/nowhere/bwrap");
    expect(advise()).toMatch(
      /restrict_unprivileged_userns=0; or .* bubblewrap alone: apt install bubblewrap, and .*profiles/,
    );
    vi.unstubAllEnvs();
    if (existsSync("/usr/bin/bwrap")) expect(advise()).toMatch(/bubblewrap alone: where .*bwrap-userns-restrict/);
    user.mockReturnValue(0);
    expect(advise()).not.toMatch(/bubblewrap/);
  });

  test("where bubblewrap is refused namespaces, they are to be allowed", () => {
    expect(adviseOn("start in bubblewrap", denied, false)).toMatch(/as root of the machine: (sysctl|where)/);
    expect(adviseOn("start in bubblewrap", denied, true)).toMatch(/docker run/);
    expect(adviseOn("start in bubblewrap", "ImportError: no module", false)).toBeUndefined();
  });
});
