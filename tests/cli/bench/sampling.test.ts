import { expect, test } from "vitest";
import { PlainPython } from "../../../src/cli/bench/plain-python.ts";
import { sample } from "../../../src/cli/bench/sampling.ts";
import { PYTHON } from "../../open.ts";

function series(...values: number[]): () => Promise<number> {
  let at = 0;
  return async () => values[Math.min(at++, values.length - 1)] ?? 0;
}

test("the result is the median of the best round; the first sample does not count", async () => {
  const ours = series(99, 5, 7, 6, 3, 9, 4);
  const floor = series(99, 2, 2, 2, 8, 8, 1);
  expect(await sample({ ours, floor }, 0)).toEqual({ oursMs: 4, floorMs: 2 });
  expect(await sample({ ours: series(9, 1) }, 0)).toEqual({ oursMs: 1, floorMs: null });
});

test("an error of a sample is that of the measure", async () => {
  const ours = async (): Promise<number> => Promise.reject(new Error("the code ended with error"));
  await expect(sample({ ours }, 0)).rejects.toThrow("the code ended with error");
});

test("a plain Python echoes, writes, forks, and is interrupted in a loop", async () => {
  using plain = new PlainPython(PYTHON);
  await plain.echo();
  await plain.write(1_000_000);
  expect(await plain.forkMs()).toBeGreaterThan(0);
  const interrupt = await plain.loop();
  await interrupt();
  expect(await plain.isDebugBuild()).toBe(false);
});

test("a plain Python that cannot start or has ended fails at once", async () => {
  using missing = new PlainPython("/no/such/python");
  await expect(missing.echo()).rejects.toThrow(/a plain Python ended: .*ENOENT/);
  await expect(missing.echo()).rejects.toThrow(/a plain Python ended/);
  const plain = new PlainPython(PYTHON);
  await plain.loop();
  plain[Symbol.dispose]();
  await expect(plain.echo()).rejects.toThrow(/a plain Python ended/);
});
