// The events of a run grouped by node: the events of a child come where it started.
//
// Memory holds only the position of each event in the file.

import type { RecordedEvent } from "../../store/runs/event-decoder.ts";
import type { RecordedRun } from "../../store/runs/run-log-reader.ts";

type Item = RecordedEvent["line"] | { readonly child: string };

/** The run itself, and nodes without a start event. */
const OUTSIDE = "";

export async function* eventsAsTree(run: RecordedRun): AsyncGenerator<RecordedEvent, void, void> {
  const nodes = new Map<string, Item[]>([[OUTSIDE, []]]);
  const itemsOf = (node: string): Item[] => nodes.get(node) ?? nodes.get(OUTSIDE) ?? [];
  for await (const { stored, line } of run.events()) {
    const node = toName(stored["nodeId"]);
    if (stored.type === "node-start" && !nodes.has(node)) {
      itemsOf(toName(stored["parentId"])).push({ child: node });
      nodes.set(node, []);
    }
    itemsOf(node).push(line);
  }
  yield* walk(run, nodes);
}

function toName(value: unknown): string {
  return typeof value === "string" ? value : OUTSIDE;
}

/** Iterative, because a log may claim any depth. Nodes are created after their parents, so there is no cycle. */
async function* walk(run: RecordedRun, nodes: Map<string, Item[]>): AsyncGenerator<RecordedEvent, void, void> {
  const stack = [{ items: nodes.get(OUTSIDE) ?? [], at: 0 }];
  await using reader = await run.openReader();
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const item = top.items[top.at];
    top.at += 1;
    if (item === undefined) stack.pop();
    else if ("child" in item) stack.push({ items: nodes.get(item.child) ?? [], at: 0 });
    else yield await reader.eventAt(item);
  }
}
