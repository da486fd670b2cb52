// Sessions: the list, and beside it the one that the address names. A narrow window shows one of the two.

import type { VNode } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { Split } from "../parts/layout/split.tsx";
import { useNarrow } from "../parts/layout/use-narrow.ts";
import { usePage } from "../state/page.ts";
import { SessionList } from "../state/sessions/session-list.ts";
import { usePolling } from "../state/use-polling.ts";
import { NarrowList } from "./list/narrow-list.tsx";
import { SessionTable } from "./list/session-table.tsx";
import type { Pane } from "./session-page.tsx";

/** The list needs nothing of it. */
const SessionPage = lazy(async () => ({ default: (await import("./session-page.tsx")).SessionPage }));
const POLL_MS = 2_000;

export interface SessionsViewProps {
  /** What follows `#/sessions` in the address. */
  readonly path: readonly string[];
}

export default function SessionsView({ path }: SessionsViewProps): VNode {
  const { runtime } = usePage();
  const list = useMemo(() => new SessionList(runtime), [runtime]);
  const isNarrow = useNarrow();
  const [pane, setPane] = useState<Pane>();
  usePolling(
    () => list.refresh(),
    () => POLL_MS,
  );

  const [id, kind, ...rest] = path;
  if (id === undefined) return <SessionTable list={list} />;
  const page = (
    <Suspense fallback={null}>
      <SessionPage key={id} id={id} kind={kind} rest={rest} list={list} pane={pane} onPane={setPane} />
    </Suspense>
  );
  if (isNarrow) return page;
  return (
    <Split
      name="sessions"
      label="Width of the list of sessions"
      initial={208}
      min={144}
      minRest={480}
      first={<NarrowList list={list} current={id} />}
      second={page}
    />
  );
}
