// The transcript of the selected row: what was said, what ran, and what came of it.

import type { ComponentChildren, VNode } from "preact";
import { formatBytes, formatCost, formatCount, formatDuration } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { isEmptyText, isRecord, numberIn, stringIn, toRunText } from "../../state/runs/run-text.ts";
import { useLoaded, type Loaded } from "../../state/runs/use-loaded.ts";
import { messageOf } from "../message-of.ts";
import { stoppedBy } from "../model/limit-text.ts";
import { wordOf } from "../model/row-text.ts";
import type { RunRow } from "../model/run-tree.ts";
import { costOf } from "../model/sums.ts";
import { useRun } from "../run-context.ts";
import { KindGlyph } from "../timeline/kind-glyph.tsx";
import { TroubleMark } from "../timeline/trouble-mark.tsx";
import { CodeParts, ModelParts, ToolParts } from "./call-parts.tsx";
import { Part } from "./part.tsx";
import { RowLink, RowLinks } from "./row-link.tsx";
import { TextBody } from "./text-body.tsx";
import styles from "./transcript.module.css";

export function Transcript(): VNode {
  const run = useRun();
  const row = run.selected.value;
  // A row is changed in place while it runs; the outline says that it may have been.
  void run.outline.value;
  return (
    <section class={styles["transcript"]} aria-label="Transcript" tabIndex={-1} data-transcript>
      {row === undefined ? (
        <p class={styles["nothing"]}>
          {run.selectedId.value === undefined ? "Choose a row to read what was said" : "This is not in the run"}
        </p>
      ) : (
        <RowTranscript key={row.id} row={row} />
      )}
    </section>
  );
}

export function RowTranscript({ row }: { readonly row: RunRow }): VNode {
  return (
    <>
      <Heading row={row} />
      {row.kind === "node" && <NodeParts row={row} />}
      {row.kind === "step" && <StepParts row={row} />}
      {row.kind === "batch" && (
        <Part title="Asked for at once" facts={`${row.children.length} of ${row.size}`} tone="child">
          <RowLinks rows={row.children} />
        </Part>
      )}
      {row.span !== null && <SpanParts row={row} />}
    </>
  );
}

function Heading({ row }: { readonly row: RunRow }): VNode {
  const above: RunRow[] = [];
  for (let at = row.parent; at !== null; at = at.parent) above.unshift(at);
  const shown = above.length > 4 ? [above[0], undefined, ...above.slice(-2)] : above;
  return (
    <header class={styles["heading"]}>
      <p class={styles["crumbs"]}>
        {shown.map((one, index) => (
          <span key={index}>{one === undefined ? "…" : <RowLink id={one.id}>{wordOf(one)}</RowLink>}</span>
        ))}
      </p>
      <h2>
        <KindGlyph kind={row.kind} />
        {wordOf(row)}
        <TroubleMark row={row} />
        {row.endedAt === null && <span class={styles["running"]}>running</span>}
      </h2>
      <p class={styles["facts"]}>
        {factsOf(row).map((fact) => (
          <span key={fact}>{toSafeText(fact)}</span>
        ))}
      </p>
    </header>
  );
}

function factsOf({ span, node, sums, startedAt, endedAt, kind }: RunRow): readonly string[] {
  const cost = costOf(sums);
  const facts = [
    endedAt === null || !Number.isFinite(endedAt) ? "" : formatDuration(endedAt - startedAt),
    node?.model ?? (span?.kind === "model" || span?.kind === "tool" ? span.name : ""),
    sums.modelCalls > 0 ? `${formatCount(sums.inputTokens)} in, ${formatCount(sums.outputTokens)} out` : "",
    cost !== null && cost > 0 ? formatCost(cost) : "",
    kind === "model" || sums.modelCalls < 2 ? "" : `${formatCount(sums.modelCalls)} model calls`,
    sums.nodes > 1 ? `${formatCount(sums.nodes)} nodes` : "",
    span?.isCached === true ? "from the cache" : "",
    span?.isCut === true ? "ended after its first block" : "",
    sums.waitMs > 0 ? `waited ${formatDuration(sums.waitMs)}` : "",
  ];
  return facts.filter((fact) => fact !== "");
}

/** Says that it loads, or why it could not. */
function WhenLoaded<Value>(of: {
  readonly loaded: Loaded<Value>;
  readonly children: (value: Value) => ComponentChildren;
}): VNode {
  const { loaded, children } = of;
  if (loaded.state === "loaded") return <>{children(loaded.value)}</>;
  if (loaded.state === "loading") return <div class={styles["skeleton"]} aria-hidden="true" />;
  return (
    <p role="alert" class={styles["note"]}>
      {`The texts cannot be loaded: ${messageOf(loaded.error)}`}
    </p>
  );
}

interface SpanPartsProps {
  readonly row: RunRow;
  /** What the reply says beside the code, which has a part of its own. */
  readonly isWithoutCode?: boolean;
}

function SpanParts({ row, isWithoutCode = false }: SpanPartsProps): VNode | null {
  const { texts } = useRun();
  const { span } = row;
  const loaded = useLoaded(
    async () => (span === null ? ([undefined, undefined] as const) : texts.call(span)),
    [span?.seq, span?.endSeq],
  );
  if (span === null) return null;
  const Parts = { model: ModelParts, code: CodeParts, tool: ToolParts }[span.kind];
  return (
    <WhenLoaded loaded={loaded}>
      {([start, end]) => (
        <Parts span={span} start={start} end={end} isCancelled={row.isCancelled} isWithoutCode={isWithoutCode} />
      )}
    </WhenLoaded>
  );
}

function StepParts({ row }: { readonly row: RunRow }): VNode {
  const { texts } = useRun();
  const own = row.children.filter(({ span }) => span?.purpose === "step" || span?.purpose === "extract");
  const code = row.children.filter(({ kind }) => kind === "code");
  const calls = row.children.filter((child) => !own.includes(child) && !code.includes(child));
  const last = code.at(-1)?.span ?? own.at(-1)?.span;
  const after = last?.endSeq ?? null;
  const ending = useLoaded(
    async () => (after === null || row.step === null ? undefined : texts.stepEnd(row.nodeId, row.step, after)),
    [row.id, after],
  );
  const observation = ending.state === "loaded" ? toRunText(ending.value?.["observation"]) : undefined;
  return (
    <>
      {own.map((child) => (
        <SpanParts key={child.id} row={child} isWithoutCode={code.length > 0} />
      ))}
      {code.map((child) => (
        <SpanParts key={child.id} row={child} />
      ))}
      {calls.length > 0 && (
        <Part title="Started by the code" facts={`${calls.length}`} tone="child">
          <RowLinks rows={calls} />
        </Part>
      )}
      {observation !== undefined && !isEmptyText(observation) && (
        <Part title="Observation" facts="what the model is shown" isFoldedAtFirst>
          <TextBody text={observation} as="output" />
        </Part>
      )}
    </>
  );
}

function NodeParts({ row }: { readonly row: RunRow }): VNode | null {
  const { texts } = useRun();
  const { node, children } = row;
  const loaded = useLoaded(
    async () => (node === null ? ([undefined, undefined] as const) : texts.node(node)),
    [node?.firstSeq, node?.endedAt],
  );
  if (node === null) return null;
  return (
    <>
      <WhenLoaded loaded={loaded}>
        {([start, end]) => (
          <>
            <Part title="Task" tone="child">
              <TextBody text={toRunText(start?.["query"] ?? node.query)} />
            </Part>
            <Material context={start?.["context"]} />
            {end?.type === "node-end" && (
              <Part
                title="Answer"
                facts={stoppedBy(node.stopReason) ?? ""}
                tone={node.status === "failed" ? "error" : "child"}
              >
                {end["answer"] === null ? (
                  <p class={styles["note"]}>It has none</p>
                ) : (
                  <TextBody text={toRunText(end["answer"])} />
                )}
              </Part>
            )}
          </>
        )}
      </WhenLoaded>
      <Part title="Steps" facts={`${children.length}`}>
        <RowLinks rows={children} />
      </Part>
    </>
  );
}

function Material({ context }: { readonly context: unknown }): VNode | null {
  if (!Array.isArray(context) || context.length === 0) return null;
  const variables = (context as readonly unknown[]).filter(isRecord).slice(0, 50);
  return (
    <Part title="Material" facts={`${context.length}`}>
      <table class={styles["material"]}>
        <tbody>
          {variables.map((variable, index) => (
            <tr key={index}>
              <th scope="row">{toSafeText(stringIn(variable, "name"))}</th>
              <td>{toSafeText(stringIn(variable, "kind"))}</td>
              <td>{formatBytes(numberIn(variable, "bytes") ?? 0)}</td>
              <td>{numberIn(variable, "files") === null ? "" : `${numberIn(variable, "files")} files`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}
