// Tasks: the list, and the one that the address names. Side by side where there is room for both.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Split } from "../parts/layout/split.tsx";
import { useNarrow } from "../parts/layout/use-narrow.ts";
import { useCommands } from "../state/commands.ts";
import { usePage } from "../state/page.ts";
import { filterTasks, TaskList, useTaskList, type TaskFilter } from "../state/tasks/tasks.ts";
import { StartTask } from "./start-task.tsx";
import { TaskDetail } from "./task/task-detail.tsx";
import { TaskListPane } from "./list/task-list-pane.tsx";

export interface TasksViewProps {
  /** What follows `#/tasks` in the address. */
  readonly path: readonly string[];
}

export default function TasksView({ path: [id] }: TasksViewProps): VNode {
  const { runtime, router } = usePage();
  const list = useMemo(() => new TaskList(runtime), [runtime]);
  const [isStarting, setStarting] = useState(false);
  const [words, setWords] = useState("");
  const isNarrow = useNarrow();
  useTaskList(list);

  const { query } = router.route.value;
  const filter = toFilter(query["show"]);
  const all = list.tasks.value;
  const shown = useMemo(() => all && filterTasks(all, filter, words), [all, filter, words]);
  const open = (next: string | undefined): void =>
    router.go({ place: "tasks", path: next === undefined ? [] : [next], query }, { replace: id !== undefined });
  const step = (by: number): void => {
    const at = shown?.findIndex((task) => task.id === id) ?? -1;
    const next = shown?.[at < 0 ? 0 : at + by];
    if (next !== undefined) open(next.id);
  };
  useCommands([
    {
      id: "task new",
      title: "Run a command",
      group: "Tasks",
      keys: "n",
      words: "start shell",
      run: () => setStarting(true),
    },
    { id: "task next", title: "Next task", group: "Tasks", keys: "j", run: () => step(1) },
    { id: "task before", title: "Task before", group: "Tasks", keys: "k", run: () => step(-1) },
    ...(id === undefined
      ? []
      : [{ id: "task list", title: "Back to the list", group: "Tasks", keys: "Escape", run: () => open(undefined) }]),
  ]);

  const pane = (
    <TaskListPane
      all={all}
      shown={shown}
      current={id}
      filter={filter}
      words={words}
      onWords={setWords}
      isCompact={isNarrow || id !== undefined}
      onStart={() => setStarting(true)}
    />
  );
  return (
    <>
      {id === undefined ? (
        pane
      ) : (
        <Split
          name="tasks"
          label="Width of the list"
          initial={360}
          min={260}
          minRest={420}
          narrow="second"
          first={pane}
          second={<TaskDetail key={id} id={id} onChange={() => void list.refresh()} />}
        />
      )}
      {isStarting && <StartTask list={list} onClose={() => setStarting(false)} />}
    </>
  );
}

function toFilter(text: string | undefined): TaskFilter {
  return text === "running" || text === "ended" ? text : "all";
}
