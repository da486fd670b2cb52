// Tasks in two lines each: where the list stands beside an open task, or on a phone.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TaskInfo } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { Age } from "../../parts/feedback/age.tsx";
import { formatDuration } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import { TaskStatus } from "../task-status.tsx";
import styles from "./task-items.module.css";

interface TaskItemsProps {
  readonly tasks: readonly TaskInfo[];
  readonly current: string | undefined;
}

/** So many are in the page at first. */
const PAGE = 100;

export function TaskItems({ tasks, current }: TaskItemsProps): VNode {
  const { query } = usePage().router.route.value;
  const list = useRef<HTMLUListElement>(null);
  const [limit, setLimit] = useState(PAGE);
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <ul ref={list} class={styles["items"]}>
      {tasks.slice(0, limit).map((task) => (
        <li key={task.id}>
          <a
            class={styles["item"]}
            href={toAddress({ place: "tasks", path: [task.id], query })}
            aria-current={task.id === current ? "true" : undefined}
          >
            <span class={styles["command"]}>{toSafeText(task.command, { maxCharacters: 200 })}</span>
            <span class={styles["facts"]}>
              <TaskStatus task={task} />
              {task.sessionId !== null && <span class={styles["session"]}>{toSafeText(task.sessionId)}</span>}
              <span class={`figures ${styles["time"]}`}>
                {formatDuration(task.durationMs)}
                {task.endedAt !== null && (
                  <>
                    , <Age since={task.endedAt} suffix=" ago" />
                  </>
                )}
              </span>
            </span>
          </a>
        </li>
      ))}
      {tasks.length > limit && (
        <li class={styles["more"]}>
          <span class="figures">
            {limit.toLocaleString("en")} of {tasks.length.toLocaleString("en")}
          </span>
          <Button onClick={() => setLimit(limit + PAGE)}>Show more</Button>
        </li>
      )}
    </ul>
  );
}
