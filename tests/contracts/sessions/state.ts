// Saving and loading, also into another environment; forks and checkpoints, or their declared absence.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LocalRuntime } from "../../../src/api/local.ts";
import { run } from "../../../src/testing/contract/drive.ts";
import { missing, needs, needsAbsence, openSession, type SessionsContract, type Suite } from "./suite.ts";

const STATE = `import math
numbers = [1, 2.5, None]
def area(r): return math.floor(math.pi * r * r)
class Point:
    def __init__(self, x): self.x = x
point = Point(7)
unsaved = (i for i in [1])`;

export function describeState(suite: Suite): void {
  describe("state", () => {
    test("is saved and loaded; what cannot be saved is listed", () => saveAndLoad(suite.runtime(), suite.runtime()));

    test("fork() copies the live state and the files", async (context) => {
      needs(suite, context, "fork");
      await using session = await openSession(suite);
      await run(session, "g = iter([1, 2, 3]); next(g); open('f', 'w').write('one'); None");
      await using copy = await session.fork();
      await run(copy, "open('f', 'w').write('two'); None");
      expect((await run(copy, "next(g)")).text).toBe("2");
      expect((await run(session, "next(g), open('f').read()")).text).toBe("(2, 'one')");
    });

    test("fork() is refused with what to use instead", async (context) => {
      needsAbsence(suite, context, "fork");
      await using session = await openSession(suite);
      await expect(session.fork()).rejects.toEqual(missing(suite, "fork"));
      expect((await run(session, "1 + 1")).text).toBe("2");
    });

    test("rewind() returns to a checkpoint", async (context) => {
      needs(suite, context, "checkpoint");
      await using session = await openSession(suite);
      await run(session, "x = 1");
      const checkpoint = await session.checkpoint();
      await run(session, "x = 2");
      await session.rewind(checkpoint);
      expect((await run(session, "x")).text).toBe("1");
      expect(await session.checkpoints()).toHaveLength(1);
    });

    test("undo() returns to the state before the last execution", async (context) => {
      needs(suite, context, "checkpoint");
      await using session = await openSession(suite, { autoCheckpoint: true });
      await run(session, "x = 1");
      await run(session, "x = 2");
      await session.undo();
      expect((await run(session, "x")).text).toBe("1");
    });

    test("checkpoints are refused with what to use instead", async (context) => {
      needsAbsence(suite, context, "checkpoint");
      await using session = await openSession(suite);
      await expect(session.checkpoint()).rejects.toEqual(missing(suite, "checkpoint"));
      await expect(session.rewind("c1")).rejects.toEqual(missing(suite, "checkpoint"));
      await expect(session.undo()).rejects.toEqual(missing(suite, "checkpoint"));
      await expect(openSession(suite, { autoCheckpoint: true })).rejects.toEqual(missing(suite, "checkpoint"));
    });
  });
}

/** What one environment saves, another one loads, both ways. */
export function describeStateTransfer(
  [name, a]: readonly [string, SessionsContract],
  [other, b]: readonly [string, SessionsContract],
): void {
  test.each([
    [name, other, a, b],
    [other, name, b, a],
  ])("what is saved in %s is loaded in %s", async (_, __, from, to) => {
    await using source = await from.open();
    await using target = await to.open();
    await saveAndLoad(source, target);
  });
}

async function saveAndLoad(source: LocalRuntime, target: LocalRuntime): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rlm-contract-"));
  try {
    const path = join(folder, "new", "state.rlm");
    await using session = await source.openSession();
    await run(session, STATE);
    const report = await session.save(path);
    expect(JSON.stringify(report)).toContain("unsaved");
    await using loaded = await target.loadSession(path);
    expect(loaded.loaded).not.toBe(null);
    expect((await run(loaded, "numbers, area(2), point.x, Point(1).x, 'unsaved' in globals()")).text).toBe(
      "([1, 2.5, None], 12, 7, 1, False)",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
