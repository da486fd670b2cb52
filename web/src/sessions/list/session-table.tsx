// All sessions, with what tells them apart.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { SessionInfo } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { Age } from "../../parts/feedback/age.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { DataTable, type Column } from "../../parts/layout/data-table.tsx";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { useConfirm } from "../../parts/overlay/dialog.tsx";
import { Menu } from "../../parts/overlay/menu.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { useCommands } from "../../state/commands.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import type { SessionList } from "../../state/sessions/session-list.ts";
import { ClosesIn } from "./closes-in.tsx";
import { NewSession } from "./new-session.tsx";
import { NoSessions } from "./no-sessions.tsx";
import { SessionItems } from "./session-items.tsx";
import { activeAt, environmentOf, SessionState } from "./session-state.tsx";
import styles from "./session-table.module.css";

export function SessionTable({ list }: { readonly list: SessionList }): VNode {
  const { router } = usePage();
  const [isOpening, setOpening] = useState(false);
  const sessions = list.sessions.value;
  const columns = useColumns(list);
  const isNarrow = useNarrow();
  useCommands([{ id: "session-new", title: "New session", group: "Sessions", keys: "n", run: () => setOpening(true) }]);
  return (
    <section class={styles["page"]} aria-labelledby="sessions-title">
      <header class={styles["header"]}>
        <h1 id="sessions-title">Sessions</h1>
        {sessions !== undefined && sessions.length > 0 && (
          <span class={`figures ${styles["count"]}`}>{formatCount(sessions.length)}</span>
        )}
        <span class={styles["space"]} />
        <Button kind="main" onClick={() => setOpening(true)}>
          <Icon name="plus" />
          New session
        </Button>
      </header>
      <div class={styles["body"]}>
        {sessions === undefined ? (
          <Skeleton lines={6} lineHeight={40} label="Loading the sessions" />
        ) : sessions.length === 0 ? (
          <NoSessions />
        ) : isNarrow ? (
          <SessionItems sessions={sessions} />
        ) : (
          <DataTable
            label="List of sessions"
            columns={columns}
            rows={sessions}
            keyOf={({ id, createdAt }) => `${id} ${createdAt}`}
            sorting={{ column: "active", isDescending: true }}
            onOpen={({ id }) => router.go({ place: "sessions", path: [id] })}
          />
        )}
      </div>
      {isOpening && <NewSession list={list} onClose={() => setOpening(false)} />}
    </section>
  );
}

function useColumns(list: SessionList): readonly Column<SessionInfo>[] {
  return useMemo(
    () => [
      {
        id: "id",
        title: "Session",
        sortBy: ({ id }) => id,
        render: ({ id, forkedFrom }) => (
          <span class={styles["name"]}>
            <a class={styles["id"]} href={toAddress({ place: "sessions", path: [id] })}>
              {toSafeText(id)}
            </a>
            {forkedFrom !== null && <span class={styles["origin"]}>from {toSafeText(forkedFrom.sessionId)}</span>}
          </span>
        ),
      },
      { id: "state", title: "State", sortBy: ({ state }) => state, render: (info) => <SessionState info={info} /> },
      {
        id: "environment",
        title: "Environment",
        isExtra: true,
        sortBy: ({ environment }) => environment,
        render: (info) => environmentOf(info),
      },
      {
        id: "memory",
        title: "Memory",
        isNumber: true,
        sortBy: ({ memoryBytes }) => memoryBytes ?? 0,
        render: ({ memoryBytes }) => (memoryBytes === null ? "–" : formatBytes(memoryBytes)),
      },
      {
        id: "executions",
        title: "Executions",
        isNumber: true,
        isExtra: true,
        sortBy: ({ executionCount }) => executionCount,
        render: ({ executionCount }) => formatCount(executionCount),
      },
      {
        id: "active",
        title: "Last active",
        isNumber: true,
        sortBy: (info) => Date.parse(activeAt(info)),
        render: (info) => <Age since={activeAt(info)} suffix=" ago" />,
      },
      {
        id: "closes",
        title: "Closes",
        isNumber: true,
        isExtra: true,
        render: (info) => <ClosesIn info={info} />,
      },
      { id: "menu", title: "Actions", hasHiddenTitle: true, render: ({ id }) => <RowMenu list={list} id={id} /> },
    ],
    [list],
  );
}

function RowMenu({ list, id }: { readonly list: SessionList; readonly id: string }): VNode {
  const { router, notices } = usePage();
  const confirm = useConfirm();
  const close = async (): Promise<void> => {
    const title = `Close the session ${toSafeText(id)}?`;
    const text = "Its variables and files are gone then, for everybody.";
    if (!(await confirm({ title, text, action: "Close the session", isDanger: true }))) return;
    await list.close(id).catch((error: unknown) => notices.failed("close the session", error));
  };
  return (
    <Menu
      label={`Actions of session ${toSafeText(id)}`}
      items={[
        { label: "Open", icon: "arrow-right", onPick: () => router.go({ place: "sessions", path: [id] }) },
        { label: "Close the session", icon: "close", isDanger: true, onPick: () => void close() },
      ]}
    />
  );
}
