// Asks which run to compare with.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Age } from "../../parts/feedback/age.tsx";
import { Status } from "../../parts/feedback/status.tsx";
import { Dialog } from "../../parts/overlay/dialog.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import { RunList, useRunList } from "../../state/runs/run-list.ts";
import styles from "./compare-with.module.css";

export function useCompareWith(runId: string): { readonly open: () => void; readonly dialog: VNode | null } {
  const [isOpen, setIsOpen] = useState(false);
  const close = (): void => setIsOpen(false);
  return { open: () => setIsOpen(true), dialog: isOpen ? <CompareWith runId={runId} onClose={close} /> : null };
}

function CompareWith({ runId, onClose }: { readonly runId: string; readonly onClose: () => void }): VNode {
  const { runtime } = usePage();
  const list = useMemo(() => new RunList(runtime), [runtime]);
  useRunList(list);
  const others = list.shown.value?.filter(({ id }) => id !== runId) ?? [];
  return (
    <Dialog title="Compare with" onClose={onClose} isWide>
      <input
        type="search"
        class={styles["filter"]}
        placeholder="Filter"
        aria-label="Filter the runs"
        onInput={({ currentTarget }) => void list.filter({ words: currentTarget.value })}
      />
      <ul class={styles["runs"]}>
        {others.map(({ id, query, status, startedAt }) => (
          <li key={id}>
            <a href={toAddress({ place: "runs", query: { compare: `${runId},${id}` } })}>
              <span class={styles["query"]}>{toSafeText(query, { maxCharacters: 200 }) || id}</span>
              <Status state={status} />
              <Age since={startedAt} suffix=" ago" />
            </a>
          </li>
        ))}
      </ul>
      {list.shown.value !== undefined && others.length === 0 && <p>There is no other run</p>}
    </Dialog>
  );
}
