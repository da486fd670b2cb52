// A run: the header, then the table of time with the transcript beside it. The same in the page and in an exported file.

import type { ComponentChildren, VNode } from "preact";
import { Button } from "../../parts/button.tsx";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { Usage } from "../charts/usage.tsx";
import { useRun } from "../run-context.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { Transcript } from "../transcript/transcript.tsx";
import { SheetBar } from "./sheet-bar.tsx";
import { RunHeader } from "./run-header.tsx";
import { SearchField, SearchResults } from "./run-search.tsx";
import styles from "./run-body.module.css";

export type RunView = "timeline" | "usage";

interface RunBodyProps {
  readonly view: RunView;
  readonly onView: (view: RunView) => void;
  /** What can be done with the run. */
  readonly actions?: ComponentChildren;
}

const VIEWS: readonly { readonly id: RunView; readonly name: string }[] = [
  { id: "timeline", name: "Timeline" },
  { id: "usage", name: "Usage" },
];

export function RunBody({ view, onView, actions }: RunBodyProps): VNode {
  const run = useRun();
  const isNarrow = useNarrow();
  const isReading = run.isReading.value;
  return (
    <div class={styles["run"]}>
      <RunHeader />
      <div class={styles["toolbar"]}>
        <div role="tablist" aria-label="Views of the run" class={styles["tabs"]}>
          {VIEWS.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              role="tab"
              aria-selected={view === id}
              class={styles["tab"]}
              onClick={() => onView(id)}
            >
              {name}
            </button>
          ))}
        </div>
        <SearchField />
        <div class={styles["actions"]}>
          {view === "timeline" && !run.isWhole.value && (
            <Button kind="quiet" onClick={() => run.show(undefined)}>
              Whole time
            </Button>
          )}
          {actions}
        </div>
      </div>
      {isNarrow && <SearchResults />}
      <div class={styles["panes"]}>
        <div class={styles["main"]}>
          {view === "timeline" ? <Timeline /> : <Usage />}
          {view === "timeline" && <Fresh />}
        </div>
        <div class={`${styles["side"]} ${isReading ? styles["sheet"] : ""}`}>
          {isNarrow ? (
            isReading && <SheetBar back="Back to the table" onClose={() => run.closeTranscript()} />
          ) : (
            <SearchResults />
          )}
          <Transcript />
        </div>
      </div>
    </div>
  );
}

/** How much came while the reader looked elsewhere. */
function Fresh(): VNode | null {
  const run = useRun();
  if (!run.isLive.value || run.isFollowing.value || run.fresh.value === 0) return null;
  return (
    <button type="button" class={styles["fresh"]} onClick={() => run.follow(true)}>
      {`${run.fresh.value} new`}
    </button>
  );
}
