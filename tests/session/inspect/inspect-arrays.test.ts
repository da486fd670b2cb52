// Inspecting objects of numpy and pandas.

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, openWith, PYTHON } from "../../open.ts";

function has(module: string): boolean {
  try {
    execFileSync(PYTHON, ["-c", `import ${module}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const hasPandas = has("pandas");

describe.skipIf(!hasPandas)(`numpy and pandas${hasPandas ? "" : ` (skipped: ${PYTHON} has no pandas)`}`, () => {
  let runtime: Runtime;
  let session: Session;
  beforeAll(async () => {
    runtime = await openTestRuntime({ poolSize: 0 });
    session = await openWith(runtime, "import numpy as np, pandas as pd");
  });
  afterAll(() => runtime?.close());

  async function run(code: string): Promise<void> {
    (await session.execute(code).result).unwrap();
  }

  test("an array has shape, dtype and size, and numpy's repr", async () => {
    await run("a = np.zeros((3000, 4)); n = np.float64(2.5); z = np.array(1)");
    const { variables } = await session.variables();
    expect(variables).toContainEqual({
      name: "a",
      type: "ndarray",
      module: "numpy",
      kind: "variable",
      length: 3000,
      shape: [3000, 4],
      dtype: "float64",
    });
    expect(variables.find(({ name }) => name === "n")).toMatchObject({ dtype: "float64", preview: "2.5" });
    const found = await session.inspect("a");
    expect(found).toMatchObject({ shape: [3000, 4], dtype: "float64", sizeBytes: 96_000 });
    expect(found?.repr?.text).toContain("...");
    expect(await session.inspect("z")).toMatchObject({ shape: [], dtype: "int64", errors: {} });
  });

  test("a frame of ten million rows has columns, size and first rows", async () => {
    await run("df = pd.DataFrame({'id': np.arange(10_000_000), 'half': np.ones(10_000_000, 'float32')})");
    expect((await session.variables()).variables.find(({ name }) => name === "df")?.shape).toEqual([10_000_000, 2]);
    const found = await session.inspect("df");
    expect(found).toMatchObject({
      type: "DataFrame",
      shape: [10_000_000, 2],
      length: 10_000_000,
      sizeBytes: expect.closeTo(120_000_000, -4),
      columnCount: 2,
      columns: [
        { name: "id", dtype: "int64" },
        { name: "half", dtype: "float32" },
      ],
      errors: {},
      incomplete: null,
    });
    expect(found?.preview).toContain("id  half");
    expect(found?.repr?.text).toContain("[10000000 rows x 2 columns]");
  });

  test("columns beyond 200 are counted", async () => {
    await run("wide = pd.DataFrame([range(1000)])");
    const found = await session.inspect("wide");
    expect(found?.columns).toHaveLength(200);
    expect(found?.columnCount).toBe(1000);
  });
});
