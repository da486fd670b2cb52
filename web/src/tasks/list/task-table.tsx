// All that is known of every task, in columns.

import type { VNode } from "preact";
import type { TaskInfo } from "rlm-runtime/client";
import { Age } from "../../parts/feedback/age.tsx";
import { formatBytes, formatDuration } from "../../parts/format.ts";
import { DataTable, type Column } from "../../parts/layout/data-table.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import { lookOf } from "../../state/tasks/task-look.ts";
import { TaskStatus } from "../task-status.tsx";
import styles from "./task-items.module.css";

export function TaskTable({ tasks }: { readonly tasks: readonly TaskInfo[] }): VNode {
  const { router } = usePage();
  const { query } = router.route.value;
  return (
    <DataTable
      label="Tasks"
      columns={COLUMNS}
      rows={tasks}
      keyOf={({ id }) => id}
      onOpen={({ id }) => router.go({ place: "tasks", path: [id], query })}
    />
  );
}

const COLUMNS: readonly Column<TaskInfo>[] = [
  {
    id: "command",
    title: "Command",
    isWide: true,
    sortBy: ({ command }) => command,
    render: ({ id, command }) => (
      <a class={styles["command"]} href={toAddress({ place: "tasks", path: [id] })} title={toSafeText(command)}>
        {toSafeText(command, { maxCharacters: 300 })}
      </a>
    ),
  },
  {
    id: "status",
    title: "Status",
    sortBy: (task) => lookOf(task).word ?? task.status,
    render: (task) => <TaskStatus task={task} />,
  },
  {
    id: "session",
    title: "Session",
    sortBy: ({ sessionId }) => sessionId,
    render: ({ sessionId }) => (sessionId === null ? "–" : <SessionLink id={sessionId} />),
  },
  {
    id: "started",
    title: "Started",
    isNumber: true,
    sortBy: ({ startedAt }) => Date.parse(startedAt),
    render: ({ startedAt }) => <Age since={startedAt} suffix=" ago" />,
  },
  {
    id: "time",
    title: "Time",
    isNumber: true,
    sortBy: ({ durationMs }) => durationMs,
    render: ({ durationMs }) => formatDuration(durationMs),
  },
  {
    id: "exit",
    title: "Exit code",
    isNumber: true,
    sortBy: ({ exitCode }) => exitCode,
    render: ({ exitCode }) => exitCode ?? "–",
  },
  {
    id: "cpu",
    title: "CPU",
    isExtra: true,
    isNumber: true,
    sortBy: ({ usage }) => usage.cpuMs,
    render: ({ usage }) => formatDuration(usage.cpuMs),
  },
  {
    id: "memory",
    title: "Peak memory",
    isExtra: true,
    isNumber: true,
    sortBy: ({ usage }) => usage.peakMemoryBytes,
    render: ({ usage }) => (usage.peakMemoryBytes === 0 ? "–" : formatBytes(usage.peakMemoryBytes)),
  },
  {
    id: "output",
    title: "Output",
    isNumber: true,
    sortBy: ({ outputBytes }) => outputBytes,
    render: ({ outputBytes }) => formatBytes(outputBytes),
  },
  {
    id: "id",
    title: "Id",
    isExtra: true,
    sortBy: ({ id }) => id,
    render: ({ id }) => <code>{toSafeText(id, { maxCharacters: 24 })}</code>,
  },
];

export function SessionLink({ id }: { readonly id: string }): VNode {
  return <a href={toAddress({ place: "sessions", path: [id] })}>{toSafeText(id, { maxCharacters: 40 })}</a>;
}
