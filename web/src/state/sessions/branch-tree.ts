// The states that a session can be in, as a tree: its start, its checkpoints, copies of it, the present, and ends that nothing leads to.

import type { Checkpoint, HistoryEntry, SessionInfo } from "rlm-runtime/client";

export type BranchNode = {
  readonly key: string;
  /** The key of the node that it continues from. Undefined: the start. */
  readonly parent: string | undefined;
  /** The number of the last execution whose effects it has. */
  readonly after: number;
  /** Newer nodes are above. */
  readonly time: number;
} & (
  | { readonly kind: "start"; readonly forkedFrom: SessionInfo["forkedFrom"] }
  | {
      readonly kind: "checkpoint";
      readonly id: string;
      readonly isAutomatic: boolean;
      /** The execution that it was taken for. Undefined: it was not, or that is no longer known. */
      readonly before: { readonly count: number; readonly code: string } | undefined;
    }
  | { readonly kind: "fork"; readonly id: string }
  /** Executions that were left by a rewind. */
  | { readonly kind: "left" }
  | { readonly kind: "present" }
);

export interface BranchFacts {
  readonly info: Pick<SessionInfo, "id" | "createdAt" | "forkedFrom" | "checkpointId" | "head">;
  readonly checkpoints: readonly Checkpoint[];
  /** Sessions that are alive, this one included. */
  readonly sessions: readonly Pick<SessionInfo, "id" | "createdAt" | "forkedFrom">[];
  readonly history: readonly Pick<HistoryEntry, "executionCount" | "parent" | "startedAt" | "code">[];
}

/** Where a node is drawn: column 0 leads to the present, row 0 is the newest. */
export interface PlacedNode {
  readonly node: BranchNode;
  readonly row: number;
  readonly column: number;
  /** Undefined: the start. */
  readonly parent: { readonly row: number; readonly column: number } | undefined;
}

const START = "start";
const MAX_LEFT = 20;

/** The start first; parents come before their children. */
export function toBranchNodes({ info, checkpoints, sessions, history }: BranchFacts): readonly BranchNode[] {
  const known = new Set(checkpoints.map(({ id }) => id));
  const keyOf = (id: string | null): string => (id !== null && known.has(id) ? `checkpoint ${id}` : START);
  const parents = new Map(history.map(({ executionCount, parent }) => [executionCount, parent]));
  /** The checkpoint from which the state after an execution continues. */
  const originOf = (count: number, time: number): string => {
    const path = pathTo(count, parents);
    const on = checkpoints.filter((one) => path.has(one.executionCount) && Date.parse(one.createdAt) <= time);
    return keyOf(on.toSorted(compareCheckpoints).at(-1)?.id ?? null);
  };
  const forks = sessions.flatMap(({ id, createdAt, forkedFrom }): BranchNode[] => {
    if (forkedFrom?.sessionId !== info.id || id === info.id) return [];
    const time = Date.parse(createdAt);
    const after = forkedFrom.executionCount;
    return [{ kind: "fork", key: `fork ${id}`, id, after, time, parent: originOf(after, time) }];
  });
  const nodes: BranchNode[] = [
    ...checkpoints.map(({ id, createdAt, executionCount, parentId, isAutomatic }): BranchNode => {
      const time = Date.parse(createdAt);
      return {
        kind: "checkpoint",
        key: keyOf(id),
        id,
        isAutomatic,
        before: isAutomatic ? nextAfter(executionCount, time, history) : undefined,
        after: executionCount,
        time,
        parent: keyOf(parentId),
      };
    }),
    ...forks,
    ...leftEnds(history, info.head, new Set(checkpoints.map(({ executionCount }) => executionCount)), originOf),
  ];
  return [
    {
      kind: "start",
      key: START,
      parent: undefined,
      after: 0,
      time: Date.parse(info.createdAt),
      forkedFrom: info.forkedFrom,
    },
    ...nodes.toSorted((a, b) => a.time - b.time),
    { kind: "present", key: "present", parent: keyOf(info.checkpointId), after: info.head, time: Infinity },
  ];
}

/** Places nodes as `toBranchNodes` gives them. */
export function placeBranchNodes(nodes: readonly BranchNode[]): readonly PlacedNode[] {
  const index = new Map(nodes.map(({ key }, place) => [key, place]));
  const placeOf = (key: string | undefined): number => (key === undefined ? -1 : (index.get(key) ?? 0));
  const isOnMain = new Set<number>();
  for (let place = nodes.length - 1; place >= 0; place = placeOf(nodes[place]?.parent)) isOnMain.add(place);
  const columns = new Map<number, number>();
  /** By column, the rows that lines of it take. */
  const taken: { readonly from: number; readonly to: number }[][] = [];
  const heirs = findHeirs(nodes, placeOf, isOnMain);
  for (const place of nodes.keys()) {
    if (columns.has(place)) continue;
    const chain = [place];
    for (let next = heirs.get(place); next !== undefined; next = heirs.get(next)) chain.push(next);
    const from = Math.max(0, placeOf(nodes[place]?.parent));
    const to = chain.at(-1) ?? place;
    let column = isOnMain.has(place) ? 0 : 1;
    while (column > 0 && taken[column]?.some((span) => span.from < to && from < span.to)) column += 1;
    (taken[column] ??= []).push({ from, to });
    for (const one of chain) columns.set(one, column);
  }
  const rowOf = (place: number): number => nodes.length - 1 - place;
  return nodes.map((node, place) => {
    const above = placeOf(node.parent);
    const parent = above < 0 ? undefined : { row: rowOf(above), column: columns.get(above) ?? 0 };
    return { node, row: rowOf(place), column: columns.get(place) ?? 0, parent };
  });
}

/** For each node the child that continues its column: the one towards the present, else the first. */
function findHeirs(
  nodes: readonly BranchNode[],
  placeOf: (key: string | undefined) => number,
  isOnMain: ReadonlySet<number>,
): Map<number, number> {
  const heirs = new Map<number, number>();
  for (const [place, { parent }] of nodes.entries()) {
    const above = placeOf(parent);
    if (above < 0 || (isOnMain.has(above) && !isOnMain.has(place))) continue;
    if (!heirs.has(above) || isOnMain.has(place)) heirs.set(above, place);
  }
  return heirs;
}

/** The first execution that continued the state after another one from that time on. */
function nextAfter(
  count: number,
  time: number,
  history: BranchFacts["history"],
): { readonly count: number; readonly code: string } | undefined {
  const next = history.find(({ parent, startedAt }) => parent === count && Date.parse(startedAt) >= time);
  return next && { count: next.executionCount, code: next.code };
}

/** Executions that no other one continued and no checkpoint kept. */
function leftEnds(
  history: BranchFacts["history"],
  head: number,
  kept: ReadonlySet<number>,
  originOf: (count: number, time: number) => string,
): BranchNode[] {
  const continued = new Set(history.map(({ parent }) => parent));
  return history
    .filter(({ executionCount: count }) => count !== head && !continued.has(count) && !kept.has(count))
    .slice(-MAX_LEFT)
    .map(({ executionCount: after, startedAt }) => {
      const time = Date.parse(startedAt);
      return { kind: "left", key: `left ${after}`, after, time, parent: originOf(after, time) };
    });
}

/** The executions whose effects the state after an execution has. */
function pathTo(count: number, parents: ReadonlyMap<number, number>): ReadonlySet<number> {
  const path = new Set<number>();
  for (let at: number | undefined = count; at !== undefined && !path.has(at); at = parents.get(at)) path.add(at);
  return path;
}

function compareCheckpoints(a: Checkpoint, b: Checkpoint): number {
  return a.executionCount - b.executionCount || Date.parse(a.createdAt) - Date.parse(b.createdAt);
}
