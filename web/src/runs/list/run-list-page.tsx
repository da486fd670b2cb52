// The list of runs, and the field that starts one.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { CommandLine } from "../../parts/feedback/copy.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { useCommands } from "../../state/commands.ts";
import { usePage } from "../../state/page.ts";
import { RunList, STATUS_FILTERS, useRunList, type RunStatusFilter } from "../../state/runs/run-list.ts";
import { messageOf } from "../message-of.ts";
import { NewRunForm, QUESTION_FIELD } from "./new-run-form.tsx";
import { RunTable } from "./run-table.tsx";
import styles from "./run-list-page.module.css";

const FILTER_FIELD = "run-filter";

export function RunListPage(): VNode {
  const { runtime, router } = usePage();
  const list = useMemo(() => new RunList(runtime), [runtime]);
  useRunList(list);
  const chosen = list.chosen.value;
  const compare = (): void => {
    if (chosen.length === 2) router.go({ place: "runs", query: { compare: chosen.join(",") } });
  };
  useCommands([
    { id: "runs-ask", title: "Ask a question", group: "Runs", keys: "n", run: () => focus(QUESTION_FIELD) },
    { id: "runs-filter", title: "Filter the runs", group: "Runs", keys: "/", run: () => focus(FILTER_FIELD) },
    { id: "runs-compare", title: "Compare the two chosen runs", group: "Runs", keys: "c", run: compare },
  ]);
  return (
    <div class={styles["page"]}>
      <h1>Runs</h1>
      <NewRunForm />
      <Listed list={list} />
      {chosen.length > 0 && (
        <div class={styles["compare"]} role="status">
          <span>{chosen.length === 1 ? "Choose another run to compare" : "Two runs are chosen"}</span>
          <Button kind="main" disabled={chosen.length !== 2} onClick={compare}>
            Compare
          </Button>
          <Button kind="quiet" onClick={() => chosen.forEach((id) => list.choose(id, false))}>
            Clear
          </Button>
        </div>
      )}
    </div>
  );
}

function countRuns(count: number): string {
  return `${count} ${count === 1 ? "run" : "runs"}`;
}

function Listed({ list }: { readonly list: RunList }): VNode {
  const runs = list.runs.value;
  const shown = list.shown.value;
  if (runs === undefined || shown === undefined) {
    const error = list.error.value;
    if (error === undefined) return <Skeleton lines={8} lineHeight={28} />;
    return (
      <p
        role="alert"
        class={styles["failed"]}
      >{`The runs cannot be listed: ${messageOf(error)}. The page tries again.`}</p>
    );
  }
  if (runs.length === 0) return <NoRuns />;
  return (
    <>
      <div class={styles["filters"]}>
        <input
          id={FILTER_FIELD}
          type="search"
          placeholder="Filter by question, model or id"
          aria-label="Filter the runs"
          value={list.words.value}
          onInput={({ currentTarget }) => void list.filter({ words: currentTarget.value })}
        />
        <select
          aria-label="Status"
          value={list.status.value}
          onChange={({ currentTarget }) => void list.filter({ status: currentTarget.value as RunStatusFilter })}
        >
          {STATUS_FILTERS.map((status) => (
            <option key={status} value={status}>
              {status === "all" ? "All statuses" : status}
            </option>
          ))}
        </select>
        <span class={styles["count"]} role="status">
          {shown.length === runs.length ? countRuns(runs.length) : `${shown.length} of ${countRuns(runs.length)}`}
        </span>
      </div>
      {shown.length === 0 ? (
        <p class={styles["none"]}>No run passes the filter.</p>
      ) : (
        <RunTable runs={shown} chosen={list.chosen.value} onChoose={(id, isChosen) => list.choose(id, isChosen)} />
      )}
      {list.hasMore && (
        <Button kind="quiet" onClick={() => void list.more()}>
          Load more
        </Button>
      )}
    </>
  );
}

function NoRuns(): VNode {
  return (
    <Empty title="No runs yet">
      <p>
        A run is one question, answered by a model that reads the material with code. Ask one above, or in a terminal:
      </p>
      <CommandLine command="rlm run --demo" />
      <CommandLine command={'rlm run "What changed in May?" --context notes.txt'} />
      <p>The first one needs no model and no key.</p>
    </Empty>
  );
}

function focus(id: string): void {
  document.querySelector<HTMLElement>(`#${id}`)?.focus();
}
