// The open session in one line: what it is, how it is, and what can be done with it.

import type { VNode } from "preact";
import { Button } from "../parts/button.tsx";
import { Status } from "../parts/feedback/status.tsx";
import { formatBytes, formatCount } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Menu, type MenuAction } from "../parts/overlay/menu.tsx";
import { toSafeText } from "../parts/safe-text.ts";
import { toAddress } from "../state/router.ts";
import type { OpenSession } from "../state/sessions/open-session.ts";
import { environmentOf, SessionState } from "./list/session-state.tsx";
import styles from "./session-header.module.css";
import type { SessionActions } from "./use-session-actions.ts";

interface SessionHeaderProps {
  readonly open: OpenSession;
  readonly actions: SessionActions;
  readonly isNarrow: boolean;
}

export function SessionHeader({ open, actions, isNarrow }: SessionHeaderProps): VNode {
  const info = open.info.value;
  const status = open.status.value;
  return (
    <header class={styles["header"]}>
      {isNarrow && (
        <a class={styles["back"]} href={toAddress({ place: "sessions" })} aria-label="All sessions">
          <Icon name="chevron-left" />
        </a>
      )}
      <h1 class={styles["id"]} title={toSafeText(open.id)}>
        {toSafeText(open.id)}
      </h1>
      {status.state === "ended" ? (
        <Status state="closed" word={`ended: ${toSafeText(status.why, { maxCharacters: 60 })}`} />
      ) : (
        info !== undefined && <SessionState info={info} />
      )}
      {info !== undefined && (
        <ul class={`figures ${styles["facts"]}`} aria-label="Facts">
          <li>{environmentOf(info)}</li>
          {info.memoryBytes !== null && <li title="Memory of all its processes">{formatBytes(info.memoryBytes)}</li>}
          <li>{info.executionCount === 1 ? "1 execution" : `${formatCount(info.executionCount)} executions`}</li>
          {info.forkedFrom !== null && (
            <li>
              fork of{" "}
              <a href={toAddress({ place: "sessions", path: [info.forkedFrom.sessionId] })}>
                {toSafeText(info.forkedFrom.sessionId)}
              </a>
            </li>
          )}
        </ul>
      )}
      <span class={styles["space"]} />
      {actions.isRunning && (
        <Button onClick={actions.interrupt} title="Interrupt (Ctrl-C in the editor)">
          <Icon name="stop" />
          Interrupt
        </Button>
      )}
      {!isNarrow && (
        <>
          <Button
            kind="quiet"
            onClick={actions.checkpoint}
            disabled={actions.noCheckpoint !== undefined}
            title={actions.noCheckpoint ?? "Keep a copy of the variables to return to"}
          >
            <Icon name="clock" />
            Checkpoint
          </Button>
          <Button
            kind="quiet"
            onClick={actions.fork}
            disabled={actions.noFork !== undefined}
            title={actions.noFork ?? "Open a live copy: variables, open files and all"}
          >
            <Icon name="branch" />
            Fork
          </Button>
        </>
      )}
      <Menu label="More actions" items={menuOf(actions, isNarrow)} />
    </header>
  );
}

function menuOf(actions: SessionActions, isNarrow: boolean): readonly (MenuAction | "separator")[] {
  const { noFork, noCheckpoint, noUndo, isEnded } = actions;
  const copies: readonly MenuAction[] = [
    {
      label: noCheckpoint === undefined ? "Checkpoint" : `Checkpoint: ${noCheckpoint}`,
      icon: "clock",
      isDisabled: noCheckpoint !== undefined,
      onPick: actions.checkpoint,
    },
    {
      label: noFork === undefined ? "Fork" : `Fork: ${noFork}`,
      icon: "branch",
      isDisabled: noFork !== undefined,
      onPick: actions.fork,
    },
  ];
  return [
    ...(isNarrow || noFork !== undefined || noCheckpoint !== undefined ? copies : []),
    {
      label: "Undo the last execution",
      icon: "arrow-left",
      hint: noUndo,
      isDisabled: noUndo !== undefined,
      onPick: actions.undo,
    },
    "separator",
    { label: "Reset", icon: "refresh", isDisabled: isEnded, isDanger: true, onPick: actions.reset },
    { label: "Close the session", icon: "close", isDisabled: isEnded, isDanger: true, onPick: actions.close },
  ];
}
