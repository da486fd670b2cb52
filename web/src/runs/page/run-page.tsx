// One run of the server: loads it, keeps the address in step with what is selected, and offers what can be done.

import { effect, untracked } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useConfirm } from "../../parts/overlay/dialog.tsx";
import { useCommands } from "../../state/commands.ts";
import { usePage } from "../../state/page.ts";
import { toAddress, type RouteLike } from "../../state/router.ts";
import { isSheetEntry } from "../../state/sheet-entry.ts";
import { exportRun } from "../../state/runs/export/export-run.ts";
import { download, loadViewer } from "../../state/runs/export/viewer-file.ts";
import { RunState } from "../../state/runs/run.ts";
import { ServerRun } from "../../state/runs/server-run.ts";
import { messageOf } from "../message-of.ts";
import { RunProvider } from "../run-context.ts";
import { RunBody, type RunView } from "./run-body.tsx";
import { runCommands } from "./run-commands.ts";
import { useCompareWith } from "./compare-with.tsx";
import styles from "./run-page.module.css";

interface RunPageProps {
  readonly runId: string;
  /** What is selected, as in `n3/2`. Undefined: nothing in particular. */
  readonly rowId: string | undefined;
}

export function RunPage({ runId, rowId }: RunPageProps): VNode {
  const { runtime } = usePage();
  const run = useMemo(() => new RunState(new ServerRun(runtime, runId)), [runtime, runId]);
  useEffect(() => {
    const following = run.open();
    return () => following[Symbol.dispose]();
  }, [run]);
  useAddress(run, rowId);
  const loading = run.loading.value;
  const hrefOf = (id: string): string => toAddress(routeOf(runId, id));
  return (
    <RunProvider value={{ run, hrefOf }}>
      {run.outline.value !== undefined ? (
        <Loaded run={run} />
      ) : loading.state === "failed" ? (
        <Failed error={loading.error} />
      ) : (
        <div class={styles["loading"]}>
          <Skeleton lines={12} lineHeight={28} label="Loading the run" />
        </div>
      )}
    </RunProvider>
  );
}

function Loaded({ run }: { readonly run: RunState }): VNode {
  const { notices, router } = usePage();
  const { place, path, query } = router.route.value;
  const exporting = useExport(run);
  const comparing = useCompareWith(run.source.runId);
  const confirm = useConfirm();
  const live = run.isLive.value;
  const cancel = async (): Promise<void> => {
    const title = "Cancel the run?";
    const text = "Its calls and sessions end. What it has found so far stays recorded.";
    if (!(await confirm({ title, text, action: "Cancel the run", isDanger: true }))) return;
    await run.source.cancel?.().catch((error: unknown) => notices.failed("cancel the run", error));
  };
  const show = (view: RunView): void =>
    router.go({ place, path, query: { view: view === "timeline" ? undefined : view } });
  useCommands([
    ...runCommands(run),
    { id: "run-follow", title: "Follow live", group: "Run", keys: "f", run: () => run.follow(true) },
    { id: "run-compare", title: "Compare with another run", group: "Run", keys: "c", run: comparing.open },
    { id: "run-export", title: "Export as one HTML file", group: "Run", keys: "e", run: exporting.toggle },
  ]);
  const failed = run.loading.value;
  return (
    <>
      {failed.state === "failed" && (
        <p role="alert" class={styles["lost"]}>
          {`The run is no longer followed: ${messageOf(failed.error)}`}
        </p>
      )}
      <RunBody
        view={query["view"] === "usage" ? "usage" : "timeline"}
        onView={show}
        actions={
          <>
            {live && (
              <Button
                kind="quiet"
                aria-pressed={run.isFollowing.value}
                onClick={() => run.follow(!run.isFollowing.value)}
              >
                {run.isFollowing.value ? "Following" : "Follow"}
              </Button>
            )}
            <Button kind="quiet" title="Compare with another run (c)" onClick={comparing.open}>
              <Icon name="compare" />
              Compare
            </Button>
            <Button kind="quiet" title="Export as one HTML file (e)" onClick={exporting.toggle}>
              <Icon name={exporting.percent === undefined ? "download" : "stop"} />
              {exporting.percent === undefined ? "Export" : `${exporting.percent} %`}
            </Button>
            {live && (
              <Button kind="danger" onClick={() => void cancel()}>
                Cancel
              </Button>
            )}
          </>
        }
      />
      {comparing.dialog}
    </>
  );
}

/** One export at a time. `percent` is undefined while there is none. */
function useExport(run: RunState): { readonly percent: number | undefined; readonly toggle: () => void } {
  const { notices } = usePage();
  const [percent, setPercent] = useState<number>();
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const start = async (): Promise<void> => {
    const current = new AbortController();
    controller.current = current;
    setPercent(0);
    try {
      const onProgress = (done: number): void => setPercent(Math.round(done * 100));
      const file = await exportRun(await loadViewer(current.signal), run.source, {
        signal: current.signal,
        onProgress,
      });
      download(file, `run-${run.source.runId.replaceAll(/[^\w.-]/g, "_")}.html`);
      notices.done("The run was exported");
    } catch (error) {
      if (!current.signal.aborted) notices.failed("export the run", error);
    } finally {
      setPercent(undefined);
    }
  };
  const toggle = (): void => (percent === undefined ? void start() : controller.current?.abort());
  return { percent, toggle };
}

const ADDRESS_MS = 150;

/** The address says what is selected, and the other way round. Keys that repeat do not write it each time. */
function useAddress(run: RunState, rowId: string | undefined): void {
  const { router } = usePage();
  const { runId } = run.source;
  const written = useRef<string>(undefined);
  const opened = useRef<RunState>(undefined);
  useEffect(() => {
    const isFirst = opened.current !== run;
    opened.current = run;
    if (rowId === written.current) return;
    written.current = undefined;
    if (rowId === undefined) return;
    // A link to a step or a call is there to be read. Back to the table leads to an address as well.
    if (rowId.includes("/") && (isFirst || isSheetEntry())) run.read(rowId);
    else run.select(rowId);
  }, [run, rowId]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: string | undefined;
    const stop = effect(() => {
      const id = run.selectedId.value;
      const isReading = run.isReading.value;
      clearTimeout(timer);
      // The address stays when the transcript closes, and is written again when it opens again.
      if (id === undefined || (id === last && !isReading)) return;
      last = id;
      timer = setTimeout(() => {
        const { place, path, query } = untracked(() => router.route.value);
        if (place !== "runs" || path[0] !== runId) return;
        written.current = id;
        // The root is what the run itself shows.
        const isPlain = path.length === 1 && id === run.root?.id;
        if (!isPlain) router.go({ ...routeOf(runId, id), query }, { replace: true });
      }, ADDRESS_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [run]);
}

function routeOf(runId: string, rowId: string): RouteLike {
  return { place: "runs", path: [runId, ...rowId.split("/")] };
}

function Failed({ error }: { readonly error: unknown }): VNode {
  return (
    <Empty title="The run cannot be shown">
      <p>{messageOf(error)}</p>
      <p>
        <a href={toAddress({ place: "runs" })}>All runs</a>
      </p>
    </Empty>
  );
}
