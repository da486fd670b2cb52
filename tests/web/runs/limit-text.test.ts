import { describe, expect, test } from "vitest";
import { stoppedBy } from "../../../web/src/runs/model/limit-text.ts";

describe("why a node stopped", () => {
  test("is the limit, in the words of the page", () => {
    expect(stoppedBy("costUsd")).toBe("stopped by the limit on cost");
    expect(stoppedBy("wallMs")).toBe("stopped by the limit on time");
  });

  test.each([null, "answered", "error", "cancelled"] as const)("is said by its status: %s", (reason) => {
    expect(stoppedBy(reason)).toBeUndefined();
  });
});
