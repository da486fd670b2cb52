import { expect, test } from "vitest";
import { connectionsWithin } from "../../../src/server/http/open-files.ts";

test("connections leave room for sessions where few files may be open", () => {
  expect([connectionsWithin(10_000, 1024), connectionsWithin(10_000, 20_000), connectionsWithin(10, Infinity)]).toEqual(
    [768, 10_000, 10],
  );
  expect(connectionsWithin(10)).toBe(10);
});
