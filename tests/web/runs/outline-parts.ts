// Nodes and spans of an outline, with what a test does not care about filled in.

import type { OutlineNode, OutlineSpan } from "../../../web/src/state/runs/run-source.ts";

export function node(id: string, fields: Partial<OutlineNode> = {}): OutlineNode {
  return {
    id,
    parentId: null,
    parentStep: null,
    depth: 0,
    query: `What about ${id}?`,
    model: "large",
    isDegraded: false,
    startedAt: 0,
    endedAt: 100,
    status: "final",
    stopReason: "answered",
    answer: `The answer of ${id}`,
    steps: 1,
    firstSeq: 1,
    lastSeq: 99,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    llmCalls: 0,
    toolCalls: 0,
    ...fields,
  };
}

export function span(fields: Partial<OutlineSpan> = {}): OutlineSpan {
  return {
    kind: "model",
    nodeId: "n0",
    step: 1,
    seq: 1,
    endSeq: 2,
    callId: "c1",
    startedAt: 0,
    endedAt: 100,
    ok: true,
    name: "large",
    head: "A reply",
    purpose: fields.kind === undefined || fields.kind === "model" ? "step" : null,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    isCached: false,
    isCut: false,
    waits: [],
    ...fields,
  };
}
