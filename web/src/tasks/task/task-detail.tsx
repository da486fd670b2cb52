// One task: what it is, how it stands, what it prints, and what can be done with it.

import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { TaskInfo } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useConfirm } from "../../parts/overlay/dialog.tsx";
import { Menu } from "../../parts/overlay/menu.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { useCommands } from "../../state/commands.ts";
import { OpenTask, type TaskProblem } from "../../state/tasks/open-task.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import { hasEnded } from "../../state/tasks/tasks.ts";
import { saveOutput } from "./save-output.ts";
import { TaskFacts } from "./task-facts.tsx";
import { TaskInput } from "./task-input.tsx";
import { TaskOutputPane } from "./task-output-pane.tsx";
import styles from "./task-detail.module.css";

interface TaskDetailProps {
  readonly id: string;
  /** Something was done with it. */
  readonly onChange: () => void;
}

export function TaskDetail({ id, onChange }: TaskDetailProps): VNode {
  const { runtime } = usePage();
  const task = useMemo(() => new OpenTask(runtime, id), [runtime, id]);
  useEffect(() => {
    const opened = task.open();
    return () => opened[Symbol.dispose]();
  }, [task]);
  const info = task.info.value;
  const problem = task.problem.value;
  if (info === undefined && problem !== undefined) return <Problem id={id} problem={problem} />;
  if (info === undefined) return <Skeleton lines={6} label="Loading the task" />;
  return (
    <article class={styles["detail"]} aria-label={`Task ${toSafeText(id)}`}>
      <header class={styles["head"]}>
        <div class={styles["row"]}>
          <a
            class={styles["back"]}
            href={toAddress({ place: "tasks" })}
            aria-label="Back to the list"
            title="Back to the list"
          >
            <Icon name="arrow-left" />
          </a>
          <h1 class={styles["title"]}>{toSafeText(info.command, { hasLines: true, maxCharacters: 4_000 })}</h1>
          {problem === undefined && <Actions task={task} info={info} onChange={onChange} />}
        </div>
        {problem !== undefined && <Gone problem={problem} />}
        <TaskFacts info={info} />
      </header>
      <TaskOutputPane task={task} info={info} />
      {problem === undefined && info.kind === "shell" && !hasEnded(info) && <TaskInput task={task} />}
    </article>
  );
}

interface ActionsProps {
  readonly task: OpenTask;
  readonly info: TaskInfo;
  readonly onChange: () => void;
}

function Actions({ task, info, onChange }: ActionsProps): VNode {
  const { notices } = usePage();
  const confirm = useConfirm();
  const isOver = hasEnded(info) && !info.background;
  const isPaused = info.status === "paused";
  const canPause = info.kind === "shell" && !hasEnded(info);
  const attempt = (what: string, action: () => Promise<void>): void => {
    action()
      .then(onChange)
      .catch((error: unknown) => notices.failed(what, error));
  };
  const toggle = (): void =>
    isPaused ? attempt("resume the task", () => task.resume()) : attempt("pause the task", () => task.pause());
  const cancel = async (): Promise<void> => {
    const isSure = await confirm({
      title: "Cancel the task?",
      text: "All of its processes are ended, also those in the background. What it printed stays.",
      action: "Cancel the task",
      refusal: "Let it run",
      isDanger: true,
    });
    if (isSure) attempt("cancel the task", () => task.cancel());
  };
  useCommands([
    ...(canPause
      ? [
          {
            id: "task pause",
            title: isPaused ? "Resume the task" : "Pause the task",
            group: "Tasks",
            keys: "p",
            run: toggle,
          },
        ]
      : []),
    ...(isOver
      ? []
      : [
          {
            id: "task cancel",
            title: "Cancel the task",
            group: "Tasks",
            keys: "x",
            words: "stop kill",
            run: () => void cancel(),
          },
        ]),
  ]);
  const copy = (what: string, text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => notices.done(`Copied the ${what}`),
      (error: unknown) => notices.failed(`copy the ${what}`, error),
    );
  };
  return (
    <div class={styles["actions"]}>
      {canPause && (
        <Button onClick={toggle} title={isPaused ? "Resume (p)" : "Pause (p)"}>
          <Icon name={isPaused ? "play" : "pause"} />
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
      {!isOver && (
        <Button kind="danger" onClick={() => void cancel()} title="Cancel (x)">
          <Icon name="stop" />
          Cancel
        </Button>
      )}
      <Menu
        label="More about this task"
        items={[
          { label: "Copy the command", icon: "copy", onPick: () => copy("command", info.command) },
          { label: "Copy the id", icon: "copy", onPick: () => copy("id", info.id) },
          {
            label: "Save the output",
            icon: "download",
            isDisabled: info.outputBytes === 0,
            onPick: () => attempt("save the output", () => saveOutput(info.id, task.readAll())),
          },
        ]}
      />
    </div>
  );
}

/** What was seen stays. */
function Gone({ problem }: { readonly problem: TaskProblem }): VNode {
  const why =
    problem.kind === "missing"
      ? "The server does not have this task any more."
      : `It cannot be followed any more: ${problem.error instanceof Error ? problem.error.message : String(problem.error)}`;
  return (
    <p role="status" class={styles["gone"]}>
      <Icon name="warning" />
      {toSafeText(why)} What you see is what was known.
    </p>
  );
}

function Problem({ id, problem }: { readonly id: string; readonly problem: TaskProblem }): VNode {
  if (problem.kind === "failed") throw problem.error;
  return (
    <Empty title={`There is no task ${toSafeText(id, { maxCharacters: 60 })}`}>
      <p>
        Tasks that ended are kept for an hour, the last 1,000 of them. This one is no longer kept, or never was.{" "}
        <a href={toAddress({ place: "tasks" })}>All tasks</a>
      </p>
    </Empty>
  );
}
