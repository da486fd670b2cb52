import { expect, test } from "vitest";
import { toTitle } from "../../../web/src/app/title.ts";

test("toTitle() says where one is, the most telling part first", () => {
  expect(toTitle({ place: "tasks", path: [], query: {} })).toBe("Tasks · RLM Runtime");
  expect(toTitle({ place: "sessions", path: ["demo"], query: {} })).toBe("Session demo · RLM Runtime");
  expect(toTitle({ place: "runs", path: ["r1", "n3", "2"], query: {} })).toBe("n3 / 2 · Run r1 · RLM Runtime");
  expect(toTitle({ place: "runs", path: [], query: { compare: "r1,r2" } })).toBe("Compare runs · RLM Runtime");
});

test("toTitle() shows marks that reorder text", () => {
  expect(toTitle({ place: "sessions", path: ["a\u202eb"], query: {} })).toBe("Session a\\u202eb · RLM Runtime");
});
