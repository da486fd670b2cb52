// The console: cells, the newest at the bottom, and the editor fixed below them.

import type { VNode } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import { VirtualList, type VirtualListHandle } from "../../parts/virtual-list.tsx";
import { toAddress } from "../../state/router.ts";
import type { ConsoleItem } from "../../state/sessions/console/console.ts";
import type { OpenSession, SessionParts } from "../../state/sessions/open-session.ts";
import type { SessionActions } from "../use-session-actions.ts";
import type { CodeEditor } from "../editor/code-editor.ts";
import { BackgroundStrip } from "./background-strip.tsx";
import { CellView } from "./cell/cell-view.tsx";
import styles from "./console-view.module.css";
import { useInterruptKey } from "./use-interrupt-key.ts";
import { Mark } from "./mark.tsx";
import { Prompt } from "./prompt.tsx";

function Beginning({ open }: { readonly open: OpenSession }): VNode {
  const origin = open.info.value?.forkedFrom ?? null;
  if (origin === null) return <>Nothing has run yet. Type Python below: variables stay until the session is closed.</>;
  const from = toSafeText(origin.sessionId);
  return (
    <>
      This is a live copy of <a href={toAddress({ place: "sessions", path: [origin.sessionId] })}>{from}</a>, with its
      variables and files as they were after [{origin.executionCount}]. Nothing has run here yet.
    </>
  );
}

interface ConsoleViewProps {
  readonly open: OpenSession;
  readonly parts: SessionParts;
  readonly actions: SessionActions;
  /** The one that the address names. */
  readonly executionId: string | undefined;
}

export function ConsoleView({ open, parts, actions, executionId }: ConsoleViewProps): VNode {
  const { notices } = usePage();
  const { console } = parts;
  const items = console.items.value;
  const list = useRef<VirtualListHandle>(null);
  const editor = useRef<CodeEditor>(null);
  const named = useMemo(
    () => (executionId === undefined ? -1 : items.findIndex(({ key }) => key === executionId)),
    [executionId, items.length],
  );
  useInterruptKey(actions);
  const run = (code: string): void => {
    console.run(code);
    requestAnimationFrame(() => list.current?.scrollToEnd());
  };
  const renderItem = (item: ConsoleItem): VNode =>
    item.kind === "mark" ? (
      <Mark why={item.why} time={item.time} />
    ) : (
      <CellView
        cell={item.cell}
        console={console}
        actions={actions}
        isLast={item === items.at(-1)}
        isNamed={item.key === executionId}
        onRun={run}
        onAnswered={() => {
          // The code may have asked for the next line meanwhile, whose field has the focus.
          if (document.activeElement === document.body) editor.current?.focus();
        }}
        onFailure={(what, error) => notices.failed(what, error)}
      />
    );
  return (
    <div class={styles["console"]}>
      <div class={styles["cells"]}>
        {items.length === 0 ? (
          <p class={styles["empty"]}>
            {open.status.value.state === "live" && <Beginning open={open} />}
            {actions.isEnded && "Nothing was run."}
          </p>
        ) : (
          <VirtualList
            items={items}
            keyOf={({ key }) => key}
            estimate={72}
            render={renderItem}
            followsEnd={executionId === undefined}
            active={named === -1 ? undefined : named}
            label="Executions"
            handle={list}
          />
        )}
      </div>
      <BackgroundStrip console={console} />
      {actions.isEnded ? (
        <p class={styles["ended"]} role="status">
          The session has ended. What was shown stays readable here.{" "}
          {open.status.value.state === "ended" && `Reason: ${toSafeText(open.status.value.why)}.`}
        </p>
      ) : (
        <Prompt open={open} console={console} actions={actions} onRun={run} handle={editor} />
      )}
    </div>
  );
}
