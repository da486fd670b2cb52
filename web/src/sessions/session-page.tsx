// One open session: its console, and beside it variables, files and branches. In a narrow window these are tabs.

import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Skeleton } from "../parts/feedback/skeleton.tsx";
import { Split } from "../parts/layout/split.tsx";
import { Tabs, type Tab } from "../parts/layout/tabs.tsx";
import { useNarrow } from "../parts/layout/use-narrow.ts";
import { toSafeText } from "../parts/safe-text.ts";
import { usePage } from "../state/page.ts";
import { OpenSession, type SessionParts } from "../state/sessions/open-session.ts";
import type { SessionList } from "../state/sessions/session-list.ts";
import { BranchesPane } from "./branches/branches-pane.tsx";
import { ConsoleView } from "./console/console-view.tsx";
import { FilesPane } from "./files/files-pane.tsx";
import { SessionHeader } from "./session-header.tsx";
import styles from "./session-page.module.css";
import { useSessionActions } from "./use-session-actions.ts";
import { VariablesPane } from "./variables/variables-pane.tsx";

interface SessionPageProps {
  readonly id: string;
  /** `executions` or `files`: what of the session the address names. */
  readonly kind: string | undefined;
  readonly rest: readonly string[];
  readonly list: SessionList;
  /** The one that the reader looked at last, in whichever session. Undefined: none yet. */
  readonly pane: Pane | undefined;
  readonly onPane: (pane: Pane) => void;
}

export type Pane = "console" | "variables" | "files" | "branches";

export function SessionPage(props: SessionPageProps): VNode {
  const { id, list } = props;
  const { runtime, router, connection } = usePage();
  const open = useMemo(() => new OpenSession(runtime, connection.uploads, id), [runtime, id]);
  useEffect(() => {
    void open.open();
    return () => open.close();
  }, [open]);

  const status = open.status.value;
  const parts = open.parts.value;
  const back = (
    <Button onClick={() => router.go({ place: "sessions" })} kind="main">
      All sessions
    </Button>
  );
  if (status.state === "missing") {
    return (
      <Empty title={`There is no session “${toSafeText(id)}”`}>
        <p>It was closed, or was idle for too long. Its variables and files are gone.</p>
        {back}
      </Empty>
    );
  }
  if (parts === undefined && status.state === "failed") {
    return (
      <Empty title={`Cannot open the session “${toSafeText(id)}”`}>
        <p role="alert">{status.why}</p>
        {back}
      </Empty>
    );
  }
  if (parts === undefined) return <Skeleton lines={8} label="Opening the session" />;
  return <Opened {...props} open={open} parts={parts} list={list} />;
}

interface OpenedProps extends SessionPageProps {
  readonly open: OpenSession;
  readonly parts: SessionParts;
}

function Opened({ open, parts, list, kind, rest, pane: last, onPane: setPane }: OpenedProps): VNode {
  const isNarrow = useNarrow();
  const pane = last ?? (isNarrow ? "console" : "variables");
  const actions = useSessionActions(open, list, setPane);
  const file = kind === "files" ? rest.join("/") : undefined;
  const executionId = kind === "executions" ? rest[0] : undefined;
  useEffect(() => {
    if (file === undefined) return;
    setPane("files");
    void parts.files.show(file);
  }, [file, parts]);

  const console = <ConsoleView open={open} parts={parts} actions={actions} executionId={executionId} />;
  const tabs: readonly Tab<Pane>[] = [
    ...(isNarrow ? [{ id: "console" as const, title: "Console" }] : []),
    { id: "variables", title: "Variables", count: parts.variables.list.value?.total },
    { id: "files", title: "Files" },
    { id: "branches", title: "Branches" },
  ];
  const shown = !isNarrow && pane === "console" ? "variables" : pane;
  const side = (
    <Tabs label="Parts of the session" tabs={tabs} selected={shown} onSelect={setPane}>
      {shown === "console" && console}
      {shown === "variables" && <VariablesPane variables={parts.variables} session={parts.session} />}
      {shown === "files" && <FilesPane files={parts.files} sessionId={open.id} />}
      {shown === "branches" && <BranchesPane open={open} branches={parts.branches} actions={actions} />}
    </Tabs>
  );
  return (
    <section class={styles["page"]} aria-label={`Session ${toSafeText(open.id)}`}>
      <SessionHeader open={open} actions={actions} isNarrow={isNarrow} />
      <div class={styles["body"]}>
        {isNarrow ? (
          side
        ) : (
          <Split
            name="session"
            label="Width of the panes of the session"
            sized="second"
            initial={360}
            min={240}
            minRest={360}
            first={console}
            second={side}
          />
        )}
      </div>
    </section>
  );
}
