import { expect, test } from "vitest";
import { Idempotency } from "../../../src/server/context/idempotency.ts";

test("the order of fields does not make another request, that of a list does", () => {
  const idempotency = new Idempotency();
  const start = (request: unknown) => idempotency.onceAs("x1", "execution", request, () => "x1");
  expect(start({ env: { A: "1", B: "2" }, argv: ["a", "b"] }).isRetry).toBe(false);
  expect(start({ argv: ["a", "b"], env: { B: "2", A: "1" } }).isRetry).toBe(true);
  expect(() => start({ env: { A: "1", B: "2" }, argv: ["b", "a"] })).toThrow("x1");
});
