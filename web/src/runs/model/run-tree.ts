// The rows of a run: nodes, their steps, and in each step the calls, the code, the batches and the nodes that it started.
//
// A tree is updated with the latest outline. Only what changed since the last one is touched, so that a run of thousands of calls can be
// followed live. Rows keep their identity; `version` says that one has changed.

import type { OutlineNode, OutlineSpan, RunOutline } from "../../state/runs/run-source.ts";
import { addSums, NO_SUMS, sumsOfSpan, type Sums } from "./sums.ts";

export type RowKind = "node" | "step" | "model" | "code" | "tool" | "batch";

export interface RunRow {
  /** What the address has after the run, as in `n3/2/c17`. */
  readonly id: string;
  readonly kind: RowKind;
  readonly parent: RunRow | null;
  /** From 1, as in `aria-level`. */
  readonly level: number;
  readonly nodeId: string;
  /** Null: it belongs to no step. */
  readonly step: number | null;
  /** In the order in which they began. */
  readonly children: RunRow[];
  readonly isFoldedAtFirst: boolean;
  /** Of kind `node`. */
  readonly node: OutlineNode | null;
  /** Of kinds `model`, `code` and `tool`. */
  readonly span: OutlineSpan | null;
  /** Of kind `batch`: how many were asked for. 0 otherwise. */
  readonly size: number;
  readonly startedAt: number;
  /** Null: it has not ended. */
  readonly endedAt: number | null;
  /** Null: it has not ended. */
  readonly isOk: boolean | null;
  /** It did not fail: it was cancelled, by itself or with its node. */
  readonly isCancelled: boolean;
  /** Of everything below, itself included. */
  readonly sums: Sums;
  /** Rows below it. */
  readonly below: number;
  readonly version: number;
}

type Draft = { -readonly [Field in keyof RunRow]: Field extends "parent" ? Draft | null : RunRow[Field] };

/** A run of more than this is opened with its branches folded. */
const BIG_RUN = 250;
/** A batch of more than this is folded at first. */
const BIG_BATCH = 20;

export class RunTree {
  readonly #rows = new Map<string, Draft>();
  readonly #childNodes = new Map<string, Draft>();
  readonly #dirty = new Set<Draft>();
  #nodes: readonly OutlineNode[] = [];
  #spans: readonly OutlineSpan[] = [];
  #expected = 0;
  #root: Draft | undefined;

  /** Undefined until the root has begun. */
  get root(): RunRow | undefined {
    return this.#root;
  }

  /** How many rows there are. */
  get size(): number {
    return this.#rows.size;
  }

  find(id: string): RunRow | undefined {
    return this.#rows.get(id);
  }

  /** Takes in what is new in this outline of the same run. */
  update({ nodes, spans }: Pick<RunOutline, "nodes" | "spans">): void {
    this.#expected = nodes.length + spans.length;
    for (const [index, node] of nodes.entries()) if (this.#nodes[index] !== node) this.#putNode(node);
    for (const [index, span] of spans.entries()) if (this.#spans[index] !== span) this.#putSpan(span);
    this.#nodes = nodes;
    this.#spans = spans;
    this.#settle();
  }

  #putNode(node: OutlineNode): void {
    const known = this.#childNodes.get(node.id);
    if (known !== undefined) {
      known.node = node;
      if (node.endedAt !== null) this.#touchUnsettled(known);
      return this.#touch(known);
    }
    const parent = node.parentId === null ? null : this.#placeOf(node.parentId, node.parentStep, node.batch, "node");
    const isDeep = parent !== null && this.#isBig();
    const row = this.#add({ id: node.id, kind: "node", parent, nodeId: node.id, step: null, isFoldedAtFirst: isDeep });
    row.node = node;
    row.startedAt = node.startedAt;
    this.#childNodes.set(node.id, row);
    if (parent === null) this.#root ??= row;
    this.#insert(row);
  }

  #putSpan(span: OutlineSpan): void {
    const id = spanId(span);
    const known = this.#rows.get(id);
    if (known !== undefined) {
      known.span = span;
      return this.#touch(known);
    }
    const parent = this.#placeOf(span.nodeId, span.step, span.batch, span.kind);
    if (parent === null) return;
    const { nodeId, step, kind } = span;
    const row = this.#add({ id, kind, parent, nodeId, step, isFoldedAtFirst: false });
    row.span = span;
    row.startedAt = span.startedAt;
    this.#insert(row);
  }

  /** The row that something belongs under: a node, one of its steps, or a batch. Null: the node is not known. */
  #placeOf(nodeId: string, step: number | null, batch: OutlineSpan["batch"], what: RowKind): Draft | null {
    const node = this.#childNodes.get(nodeId);
    if (node === undefined) return null;
    const inStep = step === null ? node : this.#open({ id: `${nodeId}/${step}`, kind: "step", parent: node, step });
    if (batch === undefined || batch.size < 2) return inStep;
    const id = `${nodeId}/${step ?? "-"}/batch-${what === "node" ? "nodes" : "calls"}-${batch.id}`;
    const group = this.#open({ id, kind: "batch", parent: inStep, step, isFoldedAtFirst: batch.size > BIG_BATCH });
    group.size = batch.size;
    return group;
  }

  #open(place: { id: string; kind: RowKind; parent: Draft; step: number | null; isFoldedAtFirst?: boolean }): Draft {
    const known = this.#rows.get(place.id);
    if (known !== undefined) return known;
    const row = this.#add({ isFoldedAtFirst: false, ...place, nodeId: place.parent.nodeId });
    this.#insert(row);
    return row;
  }

  #add(facts: Pick<Draft, "id" | "kind" | "parent" | "nodeId" | "step" | "isFoldedAtFirst">): Draft {
    const row: Draft = {
      ...facts,
      level: facts.parent === null ? 1 : facts.parent.level + 1,
      children: [],
      node: null,
      span: null,
      size: 0,
      startedAt: Infinity,
      endedAt: null,
      isOk: null,
      isCancelled: false,
      sums: NO_SUMS,
      below: 0,
      version: 0,
    };
    this.#rows.set(row.id, row);
    return row;
  }

  #insert(row: Draft): void {
    row.parent?.children.push(row);
    this.#touch(row);
  }

  #touch(row: Draft): void {
    for (let at: Draft | null = row; at !== null && !this.#dirty.has(at); at = at.parent) this.#dirty.add(at);
  }

  /** What a node leaves open ends with it, and what failed may have been cancelled with it. */
  #touchUnsettled(row: Draft): void {
    for (const child of row.children as Draft[]) {
      if (child.endedAt !== null && child.isOk === true) continue;
      this.#touchUnsettled(child);
      this.#touch(child);
    }
  }

  #isBig(): boolean {
    return this.#expected > BIG_RUN;
  }

  /** Sums and times, from the leaves to the root. */
  #settle(): void {
    const rows = [...this.#dirty].toSorted((a, b) => b.level - a.level);
    this.#dirty.clear();
    for (const row of rows) settleRow(row);
  }
}

/** The id of the row of a span. */
function spanId({ nodeId, step, callId, kind, seq }: OutlineSpan): string {
  return `${nodeId}/${step ?? "-"}/${callId ?? `${kind}-${seq}`}`;
}

function settleRow(row: Draft): void {
  row.version += 1;
  let sums = row.span === null ? NO_SUMS : sumsOfSpan(row.span);
  let below = 0;
  let startedAt = Infinity;
  let endedAt: number | null = -Infinity;
  for (const child of row.children) {
    sums = addSums(sums, child.sums);
    below += 1 + child.below;
    startedAt = Math.min(startedAt, child.startedAt);
    endedAt = endedAt === null || child.endedAt === null ? null : Math.max(endedAt, child.endedAt);
  }
  if (row.node !== null) sums = { ...sums, nodes: sums.nodes + 1 };
  row.sums = sums;
  row.below = below;
  const own = row.node ?? row.span;
  row.startedAt = own === null ? startedAt : own.startedAt;
  row.endedAt = own === null ? endedAt : (own.endedAt ?? endOfNode(row.parent));
  row.isOk = outcomeOf(row);
  row.isCancelled = row.node?.status === "cancelled" || (row.span !== null && wasCancelled(row.span, nodeOf(row)));
  // What was asked for at once is listed in the order of the request; everything else by its beginning.
  if (row.kind !== "batch") sortByStart(row.children);
}

/** When a node ends, nothing in it goes on, whether the end of that was recorded or not. */
function endOfNode(above: RunRow | null): number | null {
  for (let row = above; row !== null; row = row.parent) {
    const end = row.node?.endedAt ?? null;
    if (end !== null) return end;
  }
  return null;
}

/** Longer than a node takes to end once it is cancelled. */
const GRACE_MS = 10_000;

/** The record of a call or of code does not say so: it did not succeed, and its node was cancelled in that step and ended soon after. */
function wasCancelled({ ok, step, endedAt }: OutlineSpan, node: OutlineNode | null): boolean {
  if (ok === true || node?.status !== "cancelled") return false;
  const isLast = step === null || step === node.steps;
  return isLast && (endedAt === null || node.endedAt === null || node.endedAt - endedAt < GRACE_MS);
}

function nodeOf(below: RunRow): OutlineNode | null {
  for (let row: RunRow | null = below; row !== null; row = row.parent) if (row.node !== null) return row.node;
  return null;
}

function outcomeOf({ node, span, endedAt, children }: Draft): boolean | null {
  if (span !== null) return span.ok;
  if (node !== null) return node.status === null ? null : node.status === "final";
  if (endedAt === null) return null;
  return children.every(({ isOk }) => isOk !== false);
}

/** Nearly always they are in order already. */
function sortByStart(rows: RunRow[]): void {
  for (let index = 1; index < rows.length; index += 1) {
    const [before, row] = [rows[index - 1], rows[index]];
    if (before !== undefined && row !== undefined && row.startedAt < before.startedAt) {
      rows.sort((a, b) => a.startedAt - b.startedAt);
      return;
    }
  }
}
