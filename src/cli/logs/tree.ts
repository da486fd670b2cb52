// The events of a run, node by node: those of a child stand where it began, whatever happened elsewhere in the meantime.
//
// Only where each event is in the file is held in memory.

import type { RecordedEvent } from "../../store/runs/event-decoder.ts";
import type { RecordedRun } from "../../store/runs/run-log-reader.ts";

type Item = RecordedEvent["line"] | { readonly child: string };

/** Of a node that nobody announced, or of the run itself. */
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

/** Without recursion: a log may say that it is very deep. Nodes are made after their parents, so there is no circle. */
async function* walk(run: RecordedRun, nodes: Map<string, Item[]>): AsyncGenerator<RecordedEvent, void, void> {
  const stack = [{ items: nodes.get(OUTSIDE) ?? [], at: 0 }];
  await using reader = await run.openPlaces();
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const item = top.items[top.at];
    top.at += 1;
    if (item === undefined) stack.pop();
    else if ("child" in item) stack.push({ items: nodes.get(item.child) ?? [], at: 0 });
    else yield await reader.eventAt(item);
  }
}
