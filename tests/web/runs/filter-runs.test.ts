import { expect, test } from "vitest";
import { filterRuns } from "../../../web/src/runs/model/filter-runs.ts";

const RUNS = [
  { id: "r-1", query: "Which ships brought lanterns?", model: "large", status: "final" },
  { id: "r-2", query: "Which letters are about billing?", model: "small", status: "failed" },
  { id: "r-3", query: "Ships and letters", model: "large", status: "running" },
] as const;

test("a filter has a status, and words that are all in the question, the model or the id", () => {
  const ids = (...filter: [Parameters<typeof filterRuns>[1], string]): readonly string[] =>
    filterRuns(RUNS, ...filter).map(({ id }) => id);
  expect(ids("all", "")).toEqual(["r-1", "r-2", "r-3"]);
  expect(ids("all", " SHIPS  large ")).toEqual(["r-1", "r-3"]);
  expect(ids("running", "ships")).toEqual(["r-3"]);
  expect(ids("all", "r-2")).toEqual(["r-2"]);
  expect(ids("broken", "")).toEqual([]);
});
