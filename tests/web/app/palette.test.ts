import { describe, expect, test } from "vitest";
import { match } from "../../../web/src/app/palette/match.ts";
import { rank } from "../../../web/src/app/palette/rank.ts";

const entries = ["Go to sessions", "Go to tasks", "Theme: dark", "Interrupt the session"].map((title) => ({
  id: title,
  title,
  group: "Page",
}));
const titles = (query: string, recent: readonly string[] = []): string[] =>
  rank(query, entries, recent).map(({ entry }) => entry.title);

describe("match()", () => {
  test("finds words in any order, and says where", () => {
    expect(match("tasks go", "Go to tasks")?.marks).toEqual([
      [0, 2],
      [6, 11],
    ]);
  });

  test("finds the first letters of words", () => {
    expect(match("gts", "Go to sessions")?.marks).toEqual([
      [0, 1],
      [3, 4],
      [6, 7],
    ]);
  });

  test("does not find letters that are scattered by chance", () => {
    expect(match("xyz", "Go to sessions")).toBeUndefined();
    expect(match("oin", "Go to sessions")).toBeUndefined();
  });

  test("prefers the start of a word", () => {
    const start = match("ta", "Go to tasks")?.score ?? 0;
    const inside = match("ta", "Restart it")?.score ?? 0;
    expect(start).toBeGreaterThan(inside);
  });
});

describe("rank()", () => {
  test("has everything without a query, recent ones first", () => {
    expect(titles("", ["Theme: dark"])).toEqual([
      "Theme: dark",
      "Go to sessions",
      "Go to tasks",
      "Interrupt the session",
    ]);
  });

  test("has what fits, best first", () => {
    expect(titles("ses")).toEqual(["Go to sessions", "Interrupt the session"]);
    expect(titles("ses", ["Interrupt the session"])).toEqual(["Interrupt the session", "Go to sessions"]);
    expect(titles("dark")).toEqual(["Theme: dark"]);
    expect(titles("no such thing")).toEqual([]);
  });

  test("finds other words of an entry, without marks", () => {
    const [found] = rank("stop", [{ id: "1", title: "Interrupt", group: "Session", words: "stop kill" }], []);
    expect(found?.entry.id).toBe("1");
    expect(found?.marks).toEqual([]);
  });
});
