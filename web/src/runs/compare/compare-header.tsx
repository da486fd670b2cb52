// What two runs have in common and where their figures differ.

import type { VNode } from "preact";
import { Age } from "../../parts/feedback/age.tsx";
import { Status } from "../../parts/feedback/status.tsx";
import { formatCost, formatCount, formatDuration } from "../../parts/format.ts";
import { useNarrow } from "../../parts/layout/use-narrow.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import { toAddress } from "../../state/router.ts";
import type { Comparison } from "../../state/runs/comparison.ts";
import type { RunState } from "../../state/runs/run.ts";
import { costOf, NO_SUMS, tokensOf } from "../model/sums.ts";
import { formatDelta } from "../model/delta.ts";
import styles from "./compare-header.module.css";

export function CompareHeader({ comparison: { left, right } }: { readonly comparison: Comparison }): VNode {
  const [a, b] = [figuresOf(left), figuresOf(right)];
  const isSameQuestion = a.query === b.query;
  const isNarrow = useNarrow();
  const Layout = isNarrow ? Columns : Rows;
  return (
    <header class={styles["header"]}>
      <h1>{isSameQuestion ? toSafeText(a.query, { maxCharacters: 300 }) : "Two questions"}</h1>
      <Layout a={a} b={b} />
    </header>
  );
}

interface BothProps {
  readonly a: Figures;
  readonly b: Figures;
}

/** A row for each run. */
function Rows({ a, b }: BothProps): VNode {
  const isSameAnswer = a.answer === b.answer;
  const isSameQuestion = a.query === b.query;
  return (
    <table class={styles["table"]}>
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Run</span>
          </th>
          <th scope="col">Status</th>
          <th scope="col">{`Answer: ${isSameAnswer ? sameOf(a.answer) : "different"}`}</th>
          {FIGURES.map(({ name }) => (
            <th key={name} scope="col" class={styles["number"]}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <OneRun name="Left" figures={a} showsQuery={!isSameQuestion} />
        <OneRun name="Right" figures={b} showsQuery={!isSameQuestion} />
        <tr class={styles["delta"]}>
          <th scope="row">Difference</th>
          <td>{a.status === b.status ? "" : "differs"}</td>
          <td>{isSameAnswer ? "" : "differs"}</td>
          {FIGURES.map(({ name, of }) => (
            <td key={name} class={styles["number"]}>
              {formatDelta(of(a), of(b))}
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}

/** A column for each run: where a row for each would be too wide. */
function Columns({ a, b }: BothProps): VNode {
  const texts = [
    ...(a.query === b.query ? [] : [{ name: "Question", left: a.query, right: b.query }]),
    { name: "Answer", left: a.answer ?? "none", right: b.answer ?? "none" },
  ];
  return (
    <table class={styles["columns"]}>
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Figure</span>
          </th>
          <th scope="col">
            <RunLink name="Left" figures={a} />
          </th>
          <th scope="col">
            <RunLink name="Right" figures={b} />
          </th>
          <th scope="col" class={styles["number"]}>
            Diff.
          </th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">Status</th>
          <td>
            <Status state={a.status} />
          </td>
          <td>
            <Status state={b.status} />
          </td>
          <td class={styles["number"]}>{a.status === b.status ? "" : "differs"}</td>
        </tr>
        {texts.map(({ name, left, right }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {left === right ? (
              <td colSpan={2}>
                <Said text={left} />
              </td>
            ) : (
              [left, right].map((text, index) => (
                <td key={index}>
                  <Said text={text} />
                </td>
              ))
            )}
            <td class={styles["number"]}>{left === right ? sameOf(left) : "differs"}</td>
          </tr>
        ))}
        {FIGURES.map(({ name, of, format }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{format(of(a))}</td>
            <td>{format(of(b))}</td>
            <td class={styles["number"]}>{formatDelta(of(a), of(b))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** An outline has the first characters of a long text only. */
const HEAD_CHARACTERS = 199;

/** What can be said of two texts of which the known part is the same. */
function sameOf(text: string | null): string {
  return (text ?? "").length < HEAD_CHARACTERS ? "the same" : "begins the same";
}

/** A question or an answer: its first lines. */
function Said({ text }: { readonly text: string }): VNode {
  return <div class={styles["said"]}>{toSafeText(text, { maxCharacters: 300 })}</div>;
}

/** When it started tells two runs of one question apart. */
function RunLink({ name, figures }: { readonly name: string; readonly figures: Figures }): VNode {
  const { runId, startedAt } = figures;
  return (
    <>
      <a href={toAddress({ place: "runs", path: [runId] })} title={runId}>
        {name}
      </a>{" "}
      <span class={styles["age"]}>
        <Age since={startedAt} suffix=" ago" />
      </span>
    </>
  );
}

interface Figures {
  readonly runId: string;
  readonly startedAt: number;
  readonly query: string;
  readonly status: string;
  readonly answer: string | null;
  readonly tokens: number;
  readonly costUsd: number | null;
  readonly wallMs: number;
  readonly calls: number;
  readonly nodes: number;
}

const FIGURES: readonly {
  readonly name: string;
  readonly of: (figures: Figures) => number | null;
  readonly format: (value: number | null) => string;
}[] = [
  { name: "Time", of: ({ wallMs }) => wallMs, format: (value) => formatDuration(value ?? 0) },
  { name: "Tokens", of: ({ tokens }) => tokens, format: (value) => formatCount(value ?? 0) },
  { name: "Cost", of: ({ costUsd }) => costUsd, format: formatCost },
  { name: "Calls", of: ({ calls }) => calls, format: (value) => formatCount(value ?? 0) },
  { name: "Nodes", of: ({ nodes }) => nodes, format: (value) => formatCount(value ?? 0) },
];

function OneRun(of: { readonly name: string; readonly figures: Figures; readonly showsQuery: boolean }): VNode {
  const { name, figures, showsQuery } = of;
  const { query, status, answer } = figures;
  const said = toSafeText(answer ?? "none", { maxCharacters: 300 });
  return (
    <tr>
      <th scope="row">
        <RunLink name={name} figures={figures} />
      </th>
      <td>
        <Status state={status} />
      </td>
      <td class={styles["answer"]} title={said}>
        {showsQuery && <span class={styles["query"]}>{toSafeText(query, { maxCharacters: 200 })}</span>}
        {said}
      </td>
      {FIGURES.map((figure) => (
        <td key={figure.name} class={styles["number"]}>
          {figure.format(figure.of(figures))}
        </td>
      ))}
    </tr>
  );
}

function figuresOf(run: RunState): Figures {
  const outline = run.outline.value;
  const sums = run.root?.sums ?? NO_SUMS;
  const root = outline?.nodes[0];
  return {
    runId: run.source.runId,
    startedAt: outline?.startedAt ?? 0,
    query: outline?.query ?? "",
    status: run.isBroken.value ? "broken" : (root?.status ?? "running"),
    answer: root?.answer ?? null,
    tokens: tokensOf(sums),
    costUsd: costOf(sums),
    wallMs: (outline?.endedAt ?? run.now.value) - (outline?.startedAt ?? 0),
    calls: sums.modelCalls,
    nodes: outline?.nodes.length ?? 0,
  };
}
