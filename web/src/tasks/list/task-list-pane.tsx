// The list of tasks with its filters: a table where it has the window for itself, two lines for each task otherwise.

import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { TaskInfo } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useCommands } from "../../state/commands.ts";
import { toAddress } from "../../state/router.ts";
import { hasEnded, type TaskFilter } from "../../state/tasks/tasks.ts";
import { NothingFits, NoTasks } from "./no-tasks.tsx";
import { TaskItems } from "./task-items.tsx";
import { TaskTable } from "./task-table.tsx";
import styles from "./task-list-pane.module.css";

interface TaskListPaneProps {
  /** Undefined: not known yet. */
  readonly all: readonly TaskInfo[] | undefined;
  /** Those that fit the filters. */
  readonly shown: readonly TaskInfo[] | undefined;
  readonly current: string | undefined;
  readonly filter: TaskFilter;
  readonly words: string;
  readonly onWords: (words: string) => void;
  readonly isCompact: boolean;
  readonly onStart: () => void;
}

export function TaskListPane(props: TaskListPaneProps): VNode {
  const { all, current, words, onWords, isCompact, onStart } = props;
  const field = useRef<HTMLInputElement>(null);
  useCommands([
    { id: "task filter", title: "Filter the tasks", group: "Tasks", keys: "/", run: () => field.current?.focus() },
  ]);
  const Title = current === undefined ? "h1" : "h2";
  return (
    <section class={styles["pane"]} aria-label="List of tasks">
      <header class={styles["head"]}>
        <div class={styles["row"]}>
          <Title class={styles["title"]}>Tasks</Title>
          <Button kind={isCompact ? "plain" : "main"} onClick={onStart} title="Run a command (n)">
            <Icon name="plus" />
            Run a command
          </Button>
        </div>
        {all !== undefined && all.length > 0 && (
          <div class={`${styles["row"]} ${styles["filters"]}`}>
            <Filters {...props} all={all} />
            <input
              ref={field}
              type="search"
              class={`${styles["field"]} ${isCompact ? "" : styles["short"]}`}
              aria-label="Filter by command, session or id"
              placeholder="Filter"
              value={words}
              onInput={({ currentTarget }) => onWords(currentTarget.value)}
              onKeyDown={({ key, currentTarget }) => key === "Escape" && currentTarget.blur()}
            />
          </div>
        )}
      </header>
      <div class={styles["body"]}>
        <Body {...props} />
      </div>
    </section>
  );
}

function Body({ all, shown, current, isCompact, onStart, onWords, filter }: TaskListPaneProps): VNode {
  if (all === undefined || shown === undefined) return <Skeleton lines={8} lineHeight={40} label="Loading the tasks" />;
  if (all.length === 0) return <NoTasks onStart={onStart} />;
  if (shown.length === 0) return <NothingFits onClear={() => onWords("")} isFiltered={filter !== "all"} />;
  return isCompact ? <TaskItems tasks={shown} current={current} /> : <TaskTable tasks={shown} />;
}

const FILTERS: readonly { readonly filter: TaskFilter; readonly name: string }[] = [
  { filter: "all", name: "All" },
  { filter: "running", name: "Running" },
  { filter: "ended", name: "Ended" },
];

interface FiltersProps extends Pick<TaskListPaneProps, "current" | "filter"> {
  readonly all: readonly TaskInfo[];
}

function Filters({ all, current, filter }: FiltersProps): VNode {
  const ended = all.filter(hasEnded).length;
  const counts = { all: all.length, running: all.length - ended, ended };
  const path = current === undefined ? [] : [current];
  return (
    <nav class={styles["choices"]} aria-label="Which tasks">
      {FILTERS.map(({ filter: one, name }) => (
        <a
          key={one}
          href={toAddress({ place: "tasks", path, query: one === "all" ? {} : { show: one } })}
          aria-current={one === filter ? "true" : undefined}
        >
          {name} <span class="figures">{counts[one]}</span>
        </a>
      ))}
    </nav>
  );
}
