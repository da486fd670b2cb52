import { assert, array, dictionary, property, string } from "fast-check";
import { expect, test } from "vitest";
import { parseRoute, toAddress } from "../../../web/src/state/route.ts";

test("parseRoute() finds the place, the path and the query", () => {
  expect(parseRoute("#/runs/r1/n3/2?compare=a%2Cb")).toEqual({
    place: "runs",
    path: ["r1", "n3", "2"],
    query: { compare: "a,b" },
  });
});

test("parseRoute() goes to the sessions where an address means nothing", () => {
  expect(parseRoute("")).toEqual({ place: "sessions", path: [], query: {} });
  expect(parseRoute("#/nothing/here")).toEqual({ place: "sessions", path: [], query: {} });
  expect(parseRoute("#/tasks/%E0%A4%A")).toEqual({ place: "tasks", path: ["%E0%A4%A"], query: {} });
});

test("parseRoute() reads what toAddress() writes", () => {
  const segment = string({ unit: "grapheme", minLength: 1 });
  assert(
    property(array(segment), dictionary(segment, string({ unit: "grapheme" })), (path, query) => {
      const read = parseRoute(toAddress({ place: "sessions", path, query }));
      expect(read.path).toEqual(path);
      expect({ ...read.query }).toEqual({ ...query });
    }),
  );
});
