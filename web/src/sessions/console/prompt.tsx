// Where code is typed, below the cells.

import type { RefObject, VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { useCommands } from "../../state/commands.ts";
import { usePage } from "../../state/page.ts";
import type { Console } from "../../state/sessions/console/console.ts";
import type { OpenSession } from "../../state/sessions/open-session.ts";
import type { CodeEditor } from "../editor/code-editor.ts";
import { Editor } from "../editor/editor.tsx";
import { Recall } from "../editor/recall.ts";
import type { SessionActions } from "../use-session-actions.ts";
import styles from "./prompt.module.css";

interface PromptProps {
  readonly open: OpenSession;
  readonly console: Console;
  readonly actions: SessionActions;
  readonly onRun: (code: string) => void;
  /** Filled once the editor is there. */
  readonly handle: RefObject<CodeEditor | null>;
}

export function Prompt({ open, console, actions, onRun, handle }: PromptProps): VNode {
  const { notices } = usePage();
  const recall = useMemo(() => new Recall(), [open]);
  const isNarrow = useNarrow();
  useCommands([
    { id: "session-type", title: "Type code", group: "Session", keys: "i", run: () => handle.current?.focus() },
  ]);
  useEffect(() => {
    // A phone would open its keyboard over what is to be read.
    if (!isNarrow) requestAnimationFrame(() => handle.current?.focus());
  }, [open]);
  const canLook = (): boolean =>
    open.info.value?.state !== "running" || open.info.value.capabilities.inspectWhileRunning;
  return (
    <div class={styles["prompt"]}>
      <div class={styles["number"]} aria-hidden="true">
        {">>>"}
      </div>
      <div class={styles["field"]}>
        <Editor
          handle={handle}
          draft={open.draft}
          onFailure={(error) => notices.failed("load the editor", error)}
          run={(code) => {
            recall.reset();
            onRun(code);
          }}
          interrupt={() => {
            if (actions.isRunning) actions.interrupt();
            return actions.isRunning;
          }}
          recall={(direction, current) => recall.step(direction, current, console.codes)}
          complete={async (code, cursor) => (canLook() ? open.complete(code, cursor) : undefined)}
          signature={async (code, cursor) => (canLook() ? open.signature(code, cursor) : null)}
        />
        {!isNarrow && (
          <p class={styles["hint"]}>
            <span>
              <kbd>Enter</kbd> run
            </span>
            <span>
              <kbd>Shift Enter</kbd> run unfinished code
            </span>
            <span>
              <kbd>Alt Enter</kbd> new line
            </span>
            <span>
              <kbd>Tab</kbd> complete
            </span>
            <span>
              <kbd>↑</kbd> earlier code
            </span>
          </p>
        )}
      </div>
      <Button kind="main" aria-label="Run the code" title="Run (Shift-Enter)" onClick={() => handle.current?.run()}>
        <Icon name="play" />
        {!isNarrow && "Run"}
      </Button>
    </div>
  );
}
