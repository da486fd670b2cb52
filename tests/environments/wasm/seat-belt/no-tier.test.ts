// When the seat belt takes the place of a tier: where the machine has none, and never because of a mistake or a busy machine.

/** @module-tag stress */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EnvironmentOptions } from "../../../../src/environments/environment.ts";
import { thisMachine } from "../../../../src/environments/local/local.ts";
import {
  explainAll,
  explainFailure,
  noTier,
  NoTierError,
  notStarted,
  UNREACHABLE,
} from "../../../../src/environments/local/tier.ts";
import type { EnvironmentUnavailableError } from "../../../../src/errors.ts";
import { converse, PLAIN } from "../../../contracts/environment.ts";
import { PYTHON } from "../../../open.ts";
import { hasPyodide, openWasm, SEAT_BELT_CAPABILITIES } from "../open-wasm.ts";

const empty = mkdtempSync(join(tmpdir(), "rlm-test-"));
const isRoot = process.getuid?.() === 0;

beforeEach(() => vi.stubEnv("RLM_SANDBOX_TIER", ""));
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => rmSync(empty, { recursive: true }));

describe.skipIf(!hasPyodide)("wasm", () => {
  test("without any Python it is the seat belt", async () => {
    vi.stubEnv("PATH", empty);
    await using environment = openWasm({ python: undefined });
    expect(environment.report()).toMatchObject({
      tier: null,
      expectedTier: "seat-belt",
      capabilities: SEAT_BELT_CAPABILITIES,
    });
    await (await environment.openSandbox(PLAIN)).close();
    expect(environment.report()).toMatchObject({
      tier: "seat-belt",
      capabilities: SEAT_BELT_CAPABILITIES,
      strongerTier: { why: expect.stringContaining("no such program on the PATH") },
    });
  });

  test("on macOS it is the seat belt with Python in WebAssembly, not the Python of the machine", async () => {
    const machine = { platform: "darwin", isRoot: false, sandboxExec: ["/nowhere/sandbox-exec"] };
    await using environment = openWasm({}, machine);
    expect(environment.report().expectedTier).toBe("seat-belt");
    const { received, exec } = converse(await environment.openSandbox(PLAIN));
    await exec("a", "import sys; sys.platform");
    expect(received.events).toContain("'emscripten'");
    expect(environment.report()).toMatchObject({
      tier: "seat-belt",
      capabilities: { shell: false, packages: "wheels" },
      strongerTier: { why: expect.stringMatching(/macOS.*Python of the machine only/), fix: expect.any(String) },
    });
  });

  test("on Windows it is the seat belt", async () => {
    await using environment = openWasm({}, { platform: "win32", isRoot: false });
    await (await environment.openSandbox(PLAIN)).close();
    const { tier, strongerTier } = environment.report();
    expect(tier).toBe("seat-belt");
    expect(strongerTier?.fix).toBe("Run it inside WSL 2, or in a Linux container, such as one of Docker Desktop");
  });

  const whyNot = async (options: Partial<EnvironmentOptions>): Promise<unknown> => {
    await using environment = openWasm(options);
    return await environment.openSandbox(PLAIN).catch((error: unknown) => error);
  };

  test.each([
    ["/nowhere/python3", "there is no such file"],
    ["no-such-python", "no such program on the PATH"],
    ["/bin/true", "/bin/true"],
  ])("an interpreter that was asked for and cannot be used is an error: %s", async (python, why) => {
    const error = await whyNot({ python });
    expect(error).toMatchObject({ environment: "wasm", name: "EnvironmentUnavailableError" });
    expect((error as EnvironmentUnavailableError).why).toContain(why);
  });

  test.runIf(isRoot)("a range of users that cannot be used is an error", async () => {
    expect(await whyNot({ python: PYTHON, users: { first: 0, last: 9 } })).toMatchObject({
      environment: "wasm",
      why: expect.stringContaining("the range of users 0-9 cannot be used"),
    });
  });

  test("too few open files are an error, and the next session is tried again", async () => {
    const openFiles = vi.fn(() => 4096).mockReturnValueOnce(64);
    await using environment = openWasm({}, { ...thisMachine(), openFiles });
    expect(environment.report().expectedTier).toBeUndefined();
    await expect(environment.openSandbox(PLAIN)).rejects.toMatchObject({
      environment: "wasm",
      fix: "Raise the limit: ulimit -n 1024",
    });
    await (await environment.openSandbox(PLAIN)).close();
    expect(environment.report().tier).not.toBe("seat-belt");
  });
});

describe("a tier that failed", () => {
  const isFinal = (stage: string, message: string): boolean =>
    explainFailure("C", stage, message) instanceof NoTierError;

  test("is no tier of this machine where the kernel refused a step", () => {
    expect(isFinal("fork", "[Errno 1] Operation not permitted")).toBe(true);
    expect(isFinal("restrict with Landlock", "the kernel has no Landlock")).toBe(true);
    expect(isFinal("build the root", "[Errno 13] Permission denied: 'proc'")).toBe(true);
    expect(isFinal("take a user", `[Errno 13] ${UNREACHABLE}: '/opt/private/bin/node'`)).toBe(true);
  });

  test.each([
    ["take a user", "all 64 users for sandboxes are taken"],
    ["make pipes", "[Errno 24] Too many open files"],
    ["make its folder", "[Errno 28] No space left on device"],
    ["fork", "[Errno 11] Resource temporarily unavailable"],
    ["map the user", "[Errno 12] Cannot allocate memory"],
  ])("may hold later where the step '%s' failed with %s", (stage, message) => {
    expect(isFinal(stage, message)).toBe(false);
  });

  test("one of several that may hold later is enough, and so is a fork server that did not answer", () => {
    const [refused, late] = [noTier("no", "fix"), notStarted(PYTHON, "it ended without a message")];
    expect(explainAll([refused, refused])).toBeInstanceOf(NoTierError);
    expect(explainAll([refused, late])).not.toBeInstanceOf(NoTierError);
    expect(explainAll([refused]).name).toBe("EnvironmentUnavailableError");
  });
});
