// The texts of the selected row: both side by side. On a phone a sheet over the rows, with one of them at a time.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { toAddress } from "../../state/router.ts";
import type { Comparison } from "../../state/runs/comparison.ts";
import type { RunState } from "../../state/runs/run.ts";
import type { RunRow } from "../model/run-tree.ts";
import { SheetBar } from "../page/sheet-bar.tsx";
import { RunProvider } from "../run-context.ts";
import { RowTranscript } from "../transcript/transcript.tsx";
import styles from "./compare-texts.module.css";

interface CompareTextsProps {
  readonly comparison: Comparison;
  /** Whether the sheet is open. */
  readonly isReading: boolean;
  onClose(): void;
}

type SideName = "left" | "right";
const SIDES: readonly { readonly side: SideName; readonly name: string }[] = [
  { side: "left", name: "Left" },
  { side: "right", name: "Right" },
];

export function CompareTexts({ comparison, isReading, onClose }: CompareTextsProps): VNode | null {
  const isNarrow = useNarrow();
  const [wanted, setWanted] = useState<SideName>("left");
  const selected = comparison.selected.value;
  if (!isNarrow) {
    return (
      <div class={styles["texts"]}>
        {SIDES.map(({ side, name }) => (
          <Side key={side} name={name} run={comparison[side]} row={selected?.[side] ?? null} />
        ))}
      </div>
    );
  }
  if (!isReading) return null;
  return (
    <div class={styles["sheet"]}>
      <SheetBar back="Back to the rows" onClose={onClose}>
        <div role="tablist" aria-label="Sides" class={styles["tabs"]}>
          {SIDES.map(({ side, name }) => (
            <button
              key={side}
              type="button"
              role="tab"
              aria-selected={side === wanted}
              class={styles["tab"]}
              onClick={() => setWanted(side)}
            >
              {name}
            </button>
          ))}
        </div>
      </SheetBar>
      {SIDES.filter(({ side }) => side === wanted).map(({ side, name }) => (
        <Side key={side} name={name} run={comparison[side]} row={selected?.[side] ?? null} />
      ))}
    </div>
  );
}

interface SideProps {
  readonly name: string;
  readonly run: RunState;
  readonly row: RunRow | null;
}

function Side({ name, run, row }: SideProps): VNode {
  const hrefOf = (id: string): string => toAddress({ place: "runs", path: [run.source.runId, ...id.split("/")] });
  return (
    <RunProvider value={{ run, hrefOf }}>
      <section class={styles["side"]} aria-label={`${name} run`} tabIndex={-1}>
        {row === null ? (
          <p class={styles["nothing"]}>This run has nothing here</p>
        ) : (
          <RowTranscript key={row.id} row={row} />
        )}
      </section>
    </RunProvider>
  );
}
