import { expect, test } from "vitest";
import { within } from "../../../src/util/async/with-timeout.ts";

const never = new Promise<never>(() => {});

test("within() gives what the work gives, or undefined when it takes longer", async () => {
  expect(await within(60_000, Promise.resolve(7))).toBe(7);
  expect(await within(1, never)).toBeUndefined();
});

test("within() rejects as the work does, and is not troubled by what comes too late", async () => {
  await expect(within(60_000, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  let reject: (error: Error) => void = () => {};
  const late = new Promise<number>((_resolve, fail) => {
    reject = fail;
  });
  expect(await within(1, late)).toBeUndefined();
  reject(new Error("too late"));
});
