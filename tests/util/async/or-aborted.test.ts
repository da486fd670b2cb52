import { expect, test } from "vitest";
import { orAborted } from "../../../src/util/async/or-aborted.ts";

test("settles as the work does", async () => {
  const { signal } = new AbortController();
  await expect(orAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(orAborted(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
});

test("rejects with the reason when the signal aborts first, also if it was aborted before", async () => {
  const controller = new AbortController();
  const waiting = orAborted(new Promise(() => {}), controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(orAborted(Promise.resolve(1), controller.signal)).rejects.toThrow("enough");
});
