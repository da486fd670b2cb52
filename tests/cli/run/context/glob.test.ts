import { expect, test } from "vitest";
import { isGlob, toGlob } from "../../../../src/cli/run/context/glob.ts";

test.each([
  ["*.txt", ".", ["a.txt"], ["a.md", "b/a.txt", ".a.txt", "a.txt.gz"]],
  ["logs/**/*.log", "logs", ["a.log", "x/y/a.log"], ["a.txt", ".x/a.log"]],
  ["logs/**", "logs", ["a", "x/y/a"], [".a"]],
  ["a/b/?.txt", "a/b", ["x.txt"], ["xy.txt", "/.txt"]],
  ["[a-c]1.txt", ".", ["a1.txt"], ["d1.txt"]],
  ["[!a]1.txt", ".", ["b1.txt"], ["a1.txt"]],
  ["*.{md,txt}", ".", ["a.md", "a.txt"], ["a.rst"]],
  [".*rc", ".", [".npmrc"], ["npmrc"]],
  ["/tmp/x/*.+(a)", "/tmp/x", ["b.+(a)"], ["b.a"]],
  ["/*.txt", "/", ["a.txt"], []],
  ["Report (1)*.txt", ".", ["Report (1).txt", "Report (1) b.txt"], ["Report 1.txt"]],
  ["{a,b}/**/[x-z]?.py", ".", ["a/x1.py", "b/c/z2.py"], ["c/x1.py", "a/.c/x1.py", "a/x.py"]],
  ["!a*", ".", ["!ab"], ["b"]],
  ["a@b*|c$^", ".", ["a@b|c$^"], ["a@b"]],
  ["a\\*", ".", ["a\\b"], ["a*"]],
])("%s looks in %s", (pattern, folder, matching, others) => {
  const glob = toGlob(pattern);
  expect(glob.folder).toBe(folder);
  expect([...matching, ...others].filter(glob.matches)).toEqual(matching);
});

test("a plain path is not a glob", () => {
  expect(["a/b.txt", "*.txt", "a?", "{a,b}", "[a]"].map(isGlob)).toEqual([false, true, true, true, true]);
});
