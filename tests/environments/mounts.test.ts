import { expect, test } from "vitest";
import { parseMount } from "../../src/environments/mounts.ts";

test.each([
  ["/data", { path: "/data", mode: "ro" }],
  ["/data:ro", { path: "/data", mode: "ro" }],
  ["/data:rw", { path: "/data", mode: "rw" }],
  ["/a:b:rw", { path: "/a:b", mode: "rw" }],
  ["/a:b", { path: "/a:b", mode: "ro" }],
  ["/data/../x/", { path: "/x", mode: "ro" }],
])("%s is read as a mount", (text, expected) => {
  expect(parseMount(text)).toEqual(expected);
});

test("a relative path is taken from the current folder", () => {
  expect(parseMount("src:rw")).toEqual({ path: `${process.cwd()}/src`, mode: "rw" });
});

test("nothing is no mount", () => {
  expect(() => parseMount("")).toThrow(/Cannot read '' as a mount/);
});
