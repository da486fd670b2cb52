// Two runs side by side: what differs in all, then row by row, with the texts of both.

import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { formatCount } from "../../parts/format.ts";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { useCommands } from "../../state/commands.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import { Comparison } from "../../state/runs/comparison.ts";
import { ServerRun } from "../../state/runs/server-run.ts";
import { messageOf } from "../message-of.ts";
import { isDifference } from "../model/compare.ts";
import { CompareHeader } from "./compare-header.tsx";
import { CompareRows } from "./compare-rows.tsx";
import { CompareTexts } from "./compare-texts.tsx";
import styles from "./compare-page.module.css";

interface ComparePageProps {
  readonly leftId: string;
  readonly rightId: string;
}

export function ComparePage({ leftId, rightId }: ComparePageProps): VNode {
  const { runtime, router } = usePage();
  const isNarrow = useNarrow();
  const [isReading, setReading] = useState(false);
  const comparison = useMemo(
    () => new Comparison(new ServerRun(runtime, leftId), new ServerRun(runtime, rightId)),
    [runtime, leftId, rightId],
  );
  useEffect(() => {
    const following = comparison.open();
    return () => following[Symbol.dispose]();
  }, [comparison]);
  const swap = (): void => router.go({ place: "runs", query: { compare: `${rightId},${leftId}` } }, { replace: true });
  useCommands([
    { id: "compare-next", title: "Next row", group: "Compare", keys: "j", run: () => comparison.step(1) },
    { id: "compare-previous", title: "Previous row", group: "Compare", keys: "k", run: () => comparison.step(-1) },
    {
      id: "compare-difference",
      title: "Next difference",
      group: "Compare",
      keys: "n",
      run: () => comparison.stepDifference(1),
    },
    {
      id: "compare-difference-back",
      title: "Previous difference",
      group: "Compare",
      keys: "p",
      run: () => comparison.stepDifference(-1),
    },
    { id: "compare-swap", title: "Swap the runs", group: "Compare", keys: "x", run: swap },
  ]);
  const { left, right } = comparison;
  const failed = [left, right].flatMap(({ loading, source }) =>
    loading.value.state === "failed" ? [{ id: source.runId, error: loading.value.error }] : [],
  );
  const [failure] = failed;
  if (failure !== undefined) {
    return (
      <Empty title={`Run ${failure.id} cannot be shown`}>
        <p>{messageOf(failure.error)}</p>
        <p>
          <a href={toAddress({ place: "runs" })}>All runs</a>
        </p>
      </Empty>
    );
  }
  if (left.outline.value === undefined || right.outline.value === undefined) {
    return (
      <div class={styles["loading"]}>
        <Skeleton lines={12} lineHeight={28} label="Loading the runs" />
      </div>
    );
  }
  const hasDifference = comparison.parting.value !== undefined;
  return (
    <div class={styles["page"]}>
      <CompareHeader comparison={comparison} />
      <div class={styles["bar"]}>
        <span role="status">{summary(comparison)}</span>
        {hasDifference && (
          <>
            <Button
              kind="quiet"
              title="p"
              aria-label="Previous difference"
              onClick={() => comparison.stepDifference(-1)}
            >
              {isNarrow ? "Previous" : "Previous difference"}
            </Button>
            <Button kind="quiet" title="n" aria-label="Next difference" onClick={() => comparison.stepDifference(1)}>
              {isNarrow ? "Next" : "Next difference"}
            </Button>
          </>
        )}
      </div>
      <CompareRows comparison={comparison} onRead={() => setReading(true)} />
      <CompareTexts comparison={comparison} isReading={isReading} onClose={() => setReading(false)} />
    </div>
  );
}

function summary(comparison: Comparison): string {
  const rows = comparison.rows.value;
  const different = rows.filter((row) => isDifference(row)).length;
  if (different === 0) return `All ${formatCount(rows.length)} rows say the same`;
  return `${formatCount(different)} of ${formatCount(rows.length)} rows differ in their first words`;
}
