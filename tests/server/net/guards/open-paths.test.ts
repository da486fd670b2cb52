import { expect, test } from "vitest";
import { matchOpenPaths } from "../../../../src/server/net/guards/open-paths.ts";

test("a parameter stands for one segment that is not empty", () => {
  const isOpen = matchOpenPaths(["/", "/v1/health", "/assets/:file"]);
  const paths = ["/", "/v1/health", "/assets/a.js", "/assets/a%2Fb", "/assets/", "/assets/a/b", "/x/assets/a", "/v1"];
  expect(paths.filter(isOpen)).toEqual(["/", "/v1/health", "/assets/a.js", "/assets/a%2Fb"]);
});

test("a dot is a dot", () => {
  expect(["/a.b/c", "/axb/c"].filter(matchOpenPaths(["/a.b/:c"]))).toEqual(["/a.b/c"]);
});

test.each(["/a/:rest{[^]+}", "/a/:b?", "/a/:b/*", "/:a-:b"])(
  "%s could open more than was meant, and is refused",
  (pattern) => {
    expect(() => matchOpenPaths([pattern])).toThrow(`An open route cannot have the pattern '${pattern}'`);
  },
);
