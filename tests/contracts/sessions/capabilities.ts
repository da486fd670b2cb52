// What an environment declares, and what happens where a capability is missing: the error names it, and what to use instead.

import { describe, expect, test } from "vitest";
import type { Session } from "../../../src/api/session.ts";
import { firstOutput, run } from "../../../src/testing/contract/drive.ts";
import { missing, needs, needsAbsence, openSession, type Suite } from "./suite.ts";

const REFUSED: readonly (readonly ["threads" | "processes", code: string, error: string])[] = [
  ["threads", "import threading; threading.Thread(target=print).start()", "RuntimeError"],
  ["processes", "import subprocess; subprocess.run(['true'])", "OSError"],
  ["processes", "import os; os.fork()", "OSError"],
];

export function describeCapabilities(suite: Suite): void {
  const { capabilities, name } = suite;

  describe("capabilities", () => {
    test("are reported by the runtime, by each session and in the list", async () => {
      await using session = await openSession(suite);
      const info = await suite.runtime().info();
      expect(info).toMatchObject({ environment: name, capabilities, tier: expect.any(String) });
      const reported = { environment: name, tier: info.tier, capabilities };
      expect(await session.info()).toMatchObject(reported);
      expect((await suite.runtime().sessions.list()).items).toContainEqual(
        expect.objectContaining({ id: session.id, ...reported }),
      );
    });

    test("changes of files are followed", async (context) => {
      needs(suite, context, "watch");
      await using session = await openSession(suite);
      await using watch = await session.files.watch();
      await run(session, "open('seen.txt', 'w').close()");
      for await (const change of watch) if (JSON.stringify(change).includes("seen.txt")) break;
    });

    test("following changes of files is refused with what to use instead", async (context) => {
      needsAbsence(suite, context, "watch");
      await using session = await openSession(suite);
      await expect(session.files.watch()).rejects.toEqual(missing(suite, "watch"));
      await session.files.write("f", "x");
      expect((await session.files.list()).entries).toMatchObject([{ path: "f" }]);
    });

    test("inspecting and completing do not wait for running code", async (context) => {
      needs(suite, context, "inspectWhileRunning");
      await using session = await openSession(suite);
      await using _ = await begin(session);
      expect(await session.inspect("seen")).toMatchObject({ repr: { text: "[5]" }, incomplete: null });
      expect(await session.rows("seen")).toMatchObject({ rows: [["5"]], incomplete: null });
      expect(await session.complete("see", 3)).toMatchObject({ matches: [{ text: "seen" }], incomplete: null });
    });

    test("inspecting and completing while code runs is refused with what to use instead", async (context) => {
      needsAbsence(suite, context, "inspectWhileRunning");
      await using session = await openSession(suite);
      {
        await using _ = await begin(session);
        for (const look of [
          () => session.inspect("seen"),
          () => session.rows("seen"),
          () => session.complete("see", 3),
          () => session.signature("print(", 6),
        ]) {
          await expect(look()).rejects.toEqual(missing(suite, "inspectWhileRunning"));
        }
      }
      expect(await session.inspect("seen")).toMatchObject({ repr: { text: "[5]" }, incomplete: null });
      expect(await session.rows("seen")).toMatchObject({ rows: [["5"]], incomplete: null });
      expect(await session.complete("see", 3)).toMatchObject({ matches: [{ text: "seen" }], incomplete: null });
    });

    test("code starts threads", async (context) => {
      needs(suite, context, "threads");
      await using session = await openSession(suite);
      const code = "import threading; t = threading.Thread(target=print, args=('in it',)); t.start(); t.join()";
      expect((await run(session, code)).stdout).toBe("in it\n");
    });

    test.for(REFUSED)("without '%s', code is told what to use: %s", async ([capability, code, error], context) => {
      needsAbsence(suite, context, capability);
      await using session = await openSession(suite);
      const value = expect.stringMatching(
        `'${name}' environment cannot .* the capability '${capability}'\\. Use \\w+`,
      ) as string;
      expect(await session.execute(code)).toMatchObject({
        status: "error",
        state: "kept",
        error: { name: error, value },
      });
    });
  });
}

/** Runs code until it is disposed. */
async function begin(session: Session): Promise<AsyncDisposable> {
  const code = "import time\nseen = [5]\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)";
  const execution = session.execute(code, { timeoutMs: null });
  await firstOutput(execution);
  const stop = async (): Promise<void> => {
    await execution.cancel();
    await execution;
  };
  return { [Symbol.asyncDispose]: stop };
}
