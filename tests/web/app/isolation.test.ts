import { expect, test } from "vitest";
import { describeIsolation } from "../../../web/src/app/bar/isolation.ts";

test("describeIsolation() names the tier, and marks one that lets something through", () => {
  expect(describeIsolation({ environment: "local", tier: "A", notStopped: [] })).toEqual({
    name: "local · tier A",
    isWeak: false,
  });
  expect(describeIsolation({ environment: "local", tier: "seat-belt", notStopped: ["reading files"] })).toEqual({
    name: "local · seat belt",
    isWeak: true,
  });
  expect(describeIsolation({ environment: "wasm", tier: null, notStopped: [] })).toEqual({
    name: "wasm",
    isWeak: false,
  });
});
