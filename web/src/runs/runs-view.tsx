// Runs: the list, the one that the address names, or two side by side.

import type { VNode } from "preact";
import { lazy } from "preact/compat";
import { usePage } from "../state/page.ts";
import { RunListPage } from "./list/run-list-page.tsx";

// The list is small, and often all that is looked at first.
const ComparePage = lazy(async () => ({ default: (await import("./compare/compare-page.tsx")).ComparePage }));
const RunPage = lazy(async () => ({ default: (await import("./page/run-page.tsx")).RunPage }));

export interface RunsViewProps {
  /** What follows `#/runs` in the address. */
  readonly path: readonly string[];
}

export default function RunsView({ path: [runId, ...rest] }: RunsViewProps): VNode {
  const { compare } = usePage().router.route.value.query;
  if (runId !== undefined) {
    return <RunPage key={runId} runId={runId} rowId={rest.length === 0 ? undefined : rest.join("/")} />;
  }
  const [left = "", right = ""] = compare?.split(",") ?? [];
  if (left !== "" && right !== "") return <ComparePage key={compare} leftId={left} rightId={right} />;
  return <RunListPage />;
}
