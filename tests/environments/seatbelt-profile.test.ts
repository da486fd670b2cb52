import { describe, expect, test } from "vitest";
import { quotePath, seatbeltProfile } from "../../src/environments/local/seatbelt.ts";

const plain = { folder: "/private/tmp/base/1", readable: ["/opt/homebrew/Cellar/python"], mounts: [] };

/** The rules of a profile as lists: the inverse of how it is written. Throws for text that is no profile. */
function parse(text: string): unknown[] {
  const tokens = text.match(/"(?:[^"\\]|\\["\\])*"|[()]|[^\s()"]+/gs) ?? [];
  if (tokens.join("").replace(/\s/g, "") !== text.replace(/\s/g, "")) throw new Error("it has text between its tokens");
  const read = (): unknown => {
    const token = tokens.shift();
    if (token === undefined || token === ")") throw new Error("its brackets do not match");
    if (token !== "(") return token.startsWith('"') ? { text: token.slice(1, -1).replace(/\\(["\\])/g, "$1") } : token;
    const list: unknown[] = [];
    while (tokens[0] !== ")") list.push(read());
    tokens.shift();
    return list;
  };
  const rules: unknown[] = [];
  while (tokens.length > 0) rules.push(read());
  return rules;
}

/** Numbers that look random and are the same in each run. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  while (true) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test("quotes and backslashes in a path do not end its string", () => {
  expect(quotePath(String.raw`/a "b" \c`)).toBe(String.raw`"/a \"b\" \\c"`);
  expect(() => quotePath("/a\0b")).toThrow(RangeError);
});

test("whatever a path is, the profile has the same rules around it, and the path itself", () => {
  const alphabet = [
    '"',
    "\\",
    "(",
    ")",
    ";",
    "#",
    "|",
    "\n",
    "\r",
    "\t",
    " ",
    "a",
    "n",
    "x41",
    "\u2028",
    "é",
    "😀",
    "*",
    "$&",
    "'",
  ];
  const random = numbers(7);
  const next = (limit: number): number => Math.floor((random.next().value as number) * limit);
  for (let round = 0; round < 500; round += 1) {
    const name = Array.from({ length: 1 + next(12) }, () => alphabet[next(alphabet.length)]).join("");
    const mounts = [{ path: `/p/${name}`, mode: "rw" as const, hidden: [Buffer.from(name).toString("latin1")] }];
    const expected = JSON.stringify(
      parse(seatbeltProfile({ ...plain, mounts: [{ path: "/p/NAME", mode: "rw", hidden: ["NAME"] }] })),
    );
    const found = JSON.stringify(parse(seatbeltProfile({ ...plain, mounts })));
    expect(found).toBe(expected.replaceAll("NAME", () => JSON.stringify(name).slice(1, -1)));
  }
});

describe("the rules", () => {
  test("deny everything first, and allow no network, no events to other programs and no services", () => {
    const profile = seatbeltProfile(plain);
    expect(profile.split("\n").slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    expect(profile).toContain("(allow signal (target same-sandbox))\n(allow process-info* (target same-sandbox))");
    for (const word of [
      "network",
      "appleevent",
      "lsopen",
      "mach-lookup",
      "kern.proc",
      "(allow default)",
      "/Users",
      "Keychains",
    ])
      expect(profile).not.toContain(word);
  });

  test("the session's own folder comes last, and its parents can only be looked up", () => {
    const profile = seatbeltProfile(plain);
    expect(profile.trimEnd().split("\n").slice(-3)).toEqual([
      '(deny file-read* file-write* (subpath "/private/tmp/base"))',
      '(allow file-read-metadata (literal "/private/tmp/base"))',
      '(allow file-read* file-write* (subpath "/private/tmp/base/1"))',
    ]);
    expect(profile).toMatch(/^\(allow file-read-metadata .*\(literal "\/private\/tmp\/base"\)/m);
  });

  test("inner mounts come after outer ones, and what is hidden after both", () => {
    const profile = seatbeltProfile({
      ...plain,
      mounts: [
        { path: "/work/project/data", mode: "ro" },
        { path: "/work/project", mode: "rw", hidden: [".env"] },
      ],
    });
    expect(profile.split("\n").filter((line) => line.includes("/work/project") && !line.includes("metadata"))).toEqual([
      '(allow file-read* (subpath "/work/project"))',
      '(allow file-write* (subpath "/work/project"))',
      '(allow file-read* (subpath "/work/project/data"))',
      '(deny file-write* (subpath "/work/project/data"))',
      '(deny file-read* file-write* (subpath "/work/project/.env"))',
    ]);
  });

  test("an interpreter of a package manager reads the libraries of the package manager", () => {
    expect(seatbeltProfile(plain)).toContain('(subpath "/opt/homebrew")');
    expect(seatbeltProfile({ ...plain, readable: ["/Library/Frameworks/Python.framework"] })).not.toContain("homebrew");
  });
});
