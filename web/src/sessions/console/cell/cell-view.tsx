// One execution: its number, its code, what it printed and displayed, and how it went.

import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { PythonCode } from "../../../parts/python-code.tsx";
import { RichOutput } from "../../../parts/rich/rich-output.tsx";
import { toSafeText } from "../../../parts/safe-text.ts";
import type { Cell } from "../../../state/sessions/console/cell.ts";
import type { Console } from "../../../state/sessions/console/console.ts";
import type { SessionActions } from "../../use-session-actions.ts";
import { CellFacts } from "./cell-facts.tsx";
import { CellMenu } from "./cell-menu.tsx";
import { CellOutput } from "./cell-output.tsx";
import styles from "./cell-view.module.css";
import { ErrorView } from "./error-view.tsx";
import { InputLine } from "./input-line.tsx";

export interface CellViewProps {
  readonly cell: Cell;
  readonly console: Console;
  readonly actions: SessionActions;
  /** Its state is the one of the session, once it has ended. */
  readonly isLast: boolean;
  /** The address names it. */
  readonly isNamed: boolean;
  readonly onRun: (code: string) => void;
  /** The reader has answered the code, and types on in the editor. */
  readonly onAnswered: () => void;
  readonly onFailure: (what: string, error: unknown) => void;
}

/** Longer code is folded. */
const MAX_LINES = 24;
const SHOWN_LINES = 16;

export const CellView = memo(
  (props: CellViewProps): VNode => {
    const { cell, console, isNamed, onAnswered, onFailure } = props;
    useEffect(() => console.read(cell.id), [cell.id]);
    const isOpen = cell.state === "waiting" || cell.state === "running";
    return (
      <article
        class={`${styles["cell"]} ${isNamed ? styles["named"] : ""}`}
        aria-label={`Execution ${cell.count ?? "in the queue"}`}
        aria-busy={isOpen}
      >
        <div class={`figures ${styles["number"]}`}>[{cell.count === null || isOpen ? "*" : cell.count}]</div>
        <div class={styles["body"]}>
          <div class={styles["head"]}>
            <div class={styles["side"]}>
              <CellFacts cell={cell} />
              <CellMenu {...props} />
            </div>
            <Code code={cell.code} isCut={cell.isCodeCut} />
          </div>
          <CellOutput cell={cell} console={console} onFailure={onFailure} />
          {cell.loaded === "gone" && (
            <p class={styles["note"]}>The server no longer keeps what this printed. It keeps the last executions.</p>
          )}
          {cell.input !== null && (
            <InputLine
              key={cell.input.call}
              cellId={cell.id}
              input={cell.input}
              console={console}
              onAnswered={onAnswered}
              onFailure={onFailure}
            />
          )}
          {cell.call !== null && <p class={styles["note"]}>Waits for {toSafeText(cell.call, { maxCharacters: 80 })}</p>}
          {cell.result?.value !== undefined && (
            <div class={styles["value"]}>
              <RichOutput bundle={cell.result.value} />
            </div>
          )}
          {cell.result?.error !== undefined && (
            <ErrorView error={cell.result.error} isQuiet={cell.result.status === "interrupted"} />
          )}
          <Ending cell={cell} />
        </div>
      </article>
    );
  },
  (a, b) =>
    a.cell === b.cell && a.isLast === b.isLast && a.isNamed === b.isNamed && a.actions.noFork === b.actions.noFork,
);

function Code({ code, isCut }: { readonly code: string; readonly isCut: boolean }): VNode {
  const [isWhole, setWhole] = useState(false);
  const lines = code.split("\n");
  const isFolded = !isWhole && lines.length > MAX_LINES;
  return (
    <div class={styles["code"]}>
      <PythonCode code={isFolded ? lines.slice(0, SHOWN_LINES).join("\n") : code} wraps />
      {lines.length > MAX_LINES && (
        <button type="button" class={styles["more"]} aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isFolded ? `${lines.length - SHOWN_LINES} more lines` : "Fold the code"}
        </button>
      )}
      {isCut && <p class={styles["note"]}>The first characters of the code.</p>}
    </div>
  );
}

/** What is not normal about how it ended. */
function Ending({ cell }: { readonly cell: Cell }): VNode | null {
  const { result, problem } = cell;
  if (problem !== null) {
    return (
      <p class={styles["problem"]} role="alert">
        {cell.state === "refused" ? `Not run: ${problem}` : problem}
      </p>
    );
  }
  if (result === null) return null;
  const texts = [
    result.status === "interrupted" && REASONS[result.reason],
    result.status === "exit" && `Exit code ${result.exitCode}`,
    result.status === "error" &&
      result.incomplete === true &&
      "The code ends in the middle of a statement. Nothing was run.",
    result.state === "lost" && "All variables are gone.",
    result.state === "restored" && "Variables are as they were at the last checkpoint.",
    result.truncated?.displays !== undefined && "Some displays were too large to be kept.",
    result.truncated?.value !== undefined && "The value is shortened. The variables pane has it as _.",
  ].filter((text) => text !== false);
  return texts.length === 0 ? null : <p class={styles["note"]}>{texts.join(" ")}</p>;
}

const REASONS = {
  timeout: "Stopped at its time limit.",
  cancelled: "Interrupted.",
  memory: "Stopped: it needed too much memory.",
  "worker-lost": "The worker that ran it was lost.",
} as const;
