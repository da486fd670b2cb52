import { expect, test } from "vitest";
import { linkMounts, parseMount, toRealPaths } from "../../src/environments/mounts.ts";

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

test("links have the last part of a path as their name, and the first of several mounts has it", () => {
  const mounts = toRealPaths([
    { path: "/srv/a/data/", mode: "ro" },
    { path: "/srv/b/data", mode: "rw" },
    { path: "/srv/a/data", mode: "ro" },
    { path: "/srv/c", mode: "ro", name: "own" },
    { path: "/srv/project", mode: "ro", isOptional: true },
  ]);
  expect(linkMounts(mounts)).toEqual({
    links: { data: "/srv/a/data", own: "/srv/c" },
    problems: ["'data' in the working directory is /srv/a/data, so /srv/b/data is only at its own path"],
  });
});
