import { expect, test } from "vitest";
import { withTimeout } from "../../../src/util/async/with-timeout.ts";

const never = new Promise<never>(() => {});

test("withTimeout() resolves to the result of the work, or to undefined after the limit", async () => {
  expect(await withTimeout(60_000, Promise.resolve(7))).toBe(7);
  expect(await withTimeout(1, never)).toBeUndefined();
});

test("withTimeout() rejects when the work does, and ignores a late rejection", async () => {
  await expect(withTimeout(60_000, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  let reject: (error: Error) => void = () => {};
  const late = new Promise<number>((_resolve, fail) => {
    reject = fail;
  });
  expect(await withTimeout(1, late)).toBeUndefined();
  reject(new Error("too late"));
});
