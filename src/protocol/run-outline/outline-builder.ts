// Builds the outline of a run from its events, one by one: from live events, from recorded ones, or from an outline and what came after it.
// The result is the same.
//
// Events are not trusted: they may come from a damaged record. Wrong fields are replaced, and everything that grows has a bound. Uses
// nothing but the language, so that it runs in a browser.

import type { OutlineMark, OutlineNode, OutlineSpan, RunOutline } from "./run-outline.ts";
import * as read from "./read-event.ts";
import {
  charactersOf,
  firstLine,
  keyOf,
  ofCodeResult,
  ofModelCall,
  ofModelReply,
  ofToolResult,
  toSpan,
  type Changes,
  type Fields,
  type NodeEvent,
} from "./span-fields.ts";
import { headOf } from "./stored-text.ts";

const MAX_NODES = 50_000;
const MAX_SPANS = 200_000;
const MAX_MARKS = 1_000;
/** Of one call. */
const MAX_WAITS = 100;
/** Of all calls. */
const MAX_ALL_WAITS = 20_000;
/** Ids, names and questions of all nodes and spans. */
const MAX_CHARACTERS = 32_000_000;
/** Nodes below each other: whoever walks down the tree may recurse. */
const MAX_LEVELS = 200;
const FAULT_HEAD = 40;

/** Where an event belongs. */
export interface EventPosition {
  readonly seq: number;
  /** Null: the run itself. */
  readonly nodeId: string | null;
  /** Null: none, or not known. */
  readonly step: number | null;
}

export class OutlineBuilder {
  #run: Omit<RunOutline, "nodes" | "spans" | "marks">;
  /** Undefined: something has changed since the last one. */
  #outline: RunOutline | undefined;
  readonly #nodes: OutlineNode[];
  readonly #spans: OutlineSpan[];
  readonly #marks: OutlineMark[];
  readonly #nodeAt = new Map<string, number>();
  /** Of each node: how many are above it. */
  readonly #levels: number[] = [];
  #waits = 0;
  #characters = 0;
  /** Spans that have not ended, by `keyOf`. */
  readonly #openSpans = new Map<string, number>();

  /** Of a run without events; or goes on where an outline ends. */
  constructor(from: RunOutline["runId"] | RunOutline) {
    const { nodes, spans, marks, ...run } = typeof from === "string" ? emptyOutline(from) : from;
    this.#run = run;
    this.#nodes = [...nodes];
    this.#spans = [...spans];
    this.#marks = [...marks];
    for (const [index, node] of nodes.entries()) {
      this.#levels.push(this.#levelBelow(node.parentId));
      this.#nodeAt.set(node.id, index);
      this.#characters += charactersOf(node);
    }
    for (const [index, span] of spans.entries()) {
      if (span.endedAt === null) this.#openSpans.set(keyOf(span), index);
      this.#waits += span.waits.length;
      this.#characters += charactersOf(span);
    }
  }

  /** The outline so far. Later events do not change it: nodes and spans that change are replaced by new objects. */
  get outline(): RunOutline {
    this.#outline ??= {
      ...this.#run,
      nodes: this.#nodes.slice(),
      spans: this.#spans.slice(),
      marks: this.#marks.slice(),
    };
    return this.#outline;
  }

  /** The number of the last event that is in it. */
  get seq(): number {
    return this.#run.seq;
  }

  /** Approximate: how many objects it has. */
  get size(): number {
    return this.#nodes.length + this.#spans.length + this.#marks.length + this.#waits;
  }

  /** Counts a line that could not be read. */
  addLostLine(): void {
    this.#set({ lostLines: this.#run.lostLines + 1 });
  }

  /**
   * Adds an event, whole or as stored. Undefined: it is none, or it is in already. Deltas change nothing, since they are not recorded.
   * Events come in order.
   */
  add(event: { readonly type: string }): EventPosition | undefined {
    const fields = event as unknown as Fields;
    const { type } = event;
    const [seq, time] = [read.count(fields["seq"]), read.time(fields["time"])];
    const nodeId = read.id(fields["nodeId"]);
    if (seq === null || time === null || seq <= this.seq || isUnrecorded(type)) return undefined;
    this.#set({ seq });
    if (nodeId === null) {
      this.#addToRun(type, fields, time);
      return { seq, nodeId, step: null };
    }
    if (type === "node-start") this.#startNode(nodeId, fields, seq, time);
    else this.#changeNode(nodeId, { lastSeq: seq });
    const step = this.#addToNode({ type, nodeId, fields, seq, time });
    return { seq, nodeId, step };
  }

  #addToRun(type: string, fields: Fields, time: number): void {
    if (type === "run-end") this.#set({ endedAt: time });
    if (type !== "run-start") return;
    this.#set({
      query: headOf(fields["query"]),
      model: headOf(fields["model"]),
      subModel: headOf(fields["subModel"]),
      limits: read.limits(fields["limits"]),
      maxDepth: read.count(fields["maxDepth"]) ?? 0,
      startedAt: time,
    });
  }

  /** Returns the step that the event belongs to. */
  #addToNode(event: NodeEvent): number | null {
    const { type, nodeId, fields, time } = event;
    const current = this.#node(nodeId)?.steps || null;
    const step = read.count(fields["step"]) ?? current;
    const callId = read.id(fields["callId"]);
    switch (type) {
      case "node-start":
        return null;
      case "node-end":
        this.#endNode(nodeId, fields, time);
        return null;
      case "step-start":
        this.#changeNode(nodeId, { steps: step ?? 0 });
        return step;
      case "model-call-start":
        this.#countCall(nodeId, "llmCalls");
        this.#startSpan({ ...toSpan("model", event, step), ...ofModelCall(fields) });
        return step;
      case "model-call-wait":
        return this.#wait(`model ${callId}`, fields, time) ?? step;
      case "model-call-end":
        this.#countUsage(nodeId, fields["usage"]);
        return this.#endSpan(`model ${callId}`, event, ofModelReply(fields)) ?? step;
      case "code-start":
        this.#startSpan({ ...toSpan("code", event, step), name: firstLine(fields["code"]) });
        return step;
      case "code-end":
        this.#endSpan(`code ${nodeId} ${step}`, event, ofCodeResult(fields["result"]));
        return step;
      case "tool-call-start":
        this.#countCall(nodeId, "toolCalls");
        this.#startSpan({ ...toSpan("tool", event, step), name: headOf(fields["tool"]) });
        return step;
      case "tool-call-end":
        return this.#endSpan(`tool ${callId}`, event, ofToolResult(fields)) ?? step;
      case "limit-warning":
      case "limit-reached":
        this.#mark({ ...event, type });
        return step;
      default:
        return step;
    }
  }

  #startNode(id: string, fields: Fields, seq: number, time: number): void {
    if (this.#nodeAt.has(id)) return;
    const parentId = read.id(fields["parentId"]);
    const level = this.#levelBelow(parentId);
    if (this.#nodes.length >= MAX_NODES || level >= MAX_LEVELS || this.#isFull) return this.#omit();
    const node: OutlineNode = {
      id,
      parentId,
      parentStep: (parentId !== null && this.#node(parentId)?.steps) || null,
      depth: read.count(fields["depth"]) ?? 0,
      query: headOf(fields["query"]),
      model: headOf(fields["model"]),
      isDegraded: fields["isDegraded"] === true,
      ...read.batch(fields["batch"]),
      startedAt: time,
      endedAt: null,
      status: null,
      stopReason: null,
      answer: null,
      steps: 0,
      firstSeq: seq,
      lastSeq: seq,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: 0,
      llmCalls: 0,
      toolCalls: 0,
    };
    this.#nodeAt.set(id, this.#nodes.length);
    this.#nodes.push(node);
    this.#levels.push(level);
    this.#characters += charactersOf(node);
  }

  /** Of a child of this node. A parent that did not begin before is none. */
  #levelBelow(parentId: string | null): number {
    const above = parentId === null ? undefined : this.#nodeAt.get(parentId);
    return above === undefined ? 0 : (this.#levels[above] ?? 0) + 1;
  }

  get #isFull(): boolean {
    return this.#characters >= MAX_CHARACTERS;
  }

  #endNode(id: string, fields: Fields, time: number): void {
    const { answer } = fields;
    this.#changeNode(id, {
      endedAt: time,
      status: read.status(fields["status"]),
      stopReason: read.stopReason(fields["stopReason"]),
      answer: answer === null || answer === undefined ? null : headOf(answer),
    });
  }

  #node(id: string): OutlineNode | undefined {
    return this.#nodes[this.#nodeAt.get(id) ?? -1];
  }

  #changeNode(id: string, changes: Changes<OutlineNode>): void {
    const index = this.#nodeAt.get(id) ?? -1;
    const node = this.#nodes[index];
    if (node !== undefined) this.#nodes[index] = { ...node, ...changes };
  }

  #countCall(id: string, name: "llmCalls" | "toolCalls"): void {
    this.#changeNode(id, { [name]: (this.#node(id)?.[name] ?? 0) + 1 });
  }

  #countUsage(id: string, usage: unknown): void {
    const node = this.#node(id);
    if (node === undefined) return;
    const used = read.usage(usage);
    this.#changeNode(id, {
      inputTokens: addCounts(node.inputTokens, used.inputTokens),
      outputTokens: addCounts(node.outputTokens, used.outputTokens),
      costUsd: node.costUsd === null || used.costUsd === null ? null : read.number(node.costUsd + used.costUsd),
    });
  }

  #startSpan(span: OutlineSpan): void {
    const key = keyOf(span);
    if (this.#openSpans.has(key)) return;
    if (this.#spans.length >= MAX_SPANS || this.#isFull) return this.#omit();
    this.#openSpans.set(key, this.#spans.length);
    this.#spans.push(span);
    this.#characters += charactersOf(span);
  }

  /** Returns its step. Undefined: there is none that is open. */
  #endSpan(key: string, { seq, time }: NodeEvent, end: Changes<OutlineSpan>): number | null | undefined {
    const step = this.#changeSpan(key, { endSeq: seq, endedAt: time, ...end });
    this.#openSpans.delete(key);
    return step;
  }

  #wait(key: string, { delayMs, fault }: Fields, at: number): number | null | undefined {
    const span = this.#spans[this.#openSpans.get(key) ?? -1];
    if (span === undefined) return undefined;
    const { waits, step } = span;
    if (waits.length >= MAX_WAITS) return step;
    if (this.#waits >= MAX_ALL_WAITS) {
      this.#omit();
      return step;
    }
    this.#waits += 1;
    return this.#changeSpan(key, {
      waits: [...waits, { at, delayMs: read.number(delayMs) ?? 0, fault: headOf(fault, FAULT_HEAD) }],
    });
  }

  #changeSpan(key: string, changes: Changes<OutlineSpan>): number | null | undefined {
    const index = this.#openSpans.get(key) ?? -1;
    const span = this.#spans[index];
    if (span !== undefined) this.#spans[index] = { ...span, ...changes };
    return span?.step;
  }

  #mark({ type, fields, nodeId, seq, time }: NodeEvent & { readonly type: OutlineMark["kind"] }): void {
    const axis = read.axis(fields["axis"]);
    if (axis === null) return;
    if (this.#marks.length >= MAX_MARKS) return this.#omit();
    const [used, limit] = [read.number(fields["used"]) ?? 0, read.number(fields["limit"]) ?? 0];
    this.#marks.push({ kind: type, seq, nodeId, time, axis, used, limit });
  }

  #omit(): void {
    this.#set({ omitted: this.#run.omitted + 1 });
  }

  #set(changes: Changes<RunOutline>): void {
    this.#run = { ...this.#run, ...changes };
    this.#outline = undefined; // whatever changes, the number of the last event does
  }
}

function emptyOutline(runId: RunOutline["runId"]): RunOutline {
  return {
    runId,
    seq: 0,
    query: "",
    model: "",
    subModel: "",
    limits: {},
    maxDepth: 0,
    startedAt: 0,
    endedAt: null,
    nodes: [],
    spans: [],
    marks: [],
    lostLines: 0,
    omitted: 0,
  };
}

/** Beyond the largest count that is exact, that one. */
function addCounts(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

function isUnrecorded(type: string): boolean {
  return type === "model-call-delta" || type === "output-delta" || type === "event-gap";
}
