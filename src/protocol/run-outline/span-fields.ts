// The fields of spans, taken from the events that begin and end them. Fields of a wrong type are replaced.

import type { OutlineNode, OutlineSpan } from "./run-outline.ts";
import * as read from "./read-event.ts";
import { headOf, headOfValue } from "./stored-text.ts";

const SPAN_HEAD = 160;

export type Fields = Readonly<Record<string, unknown>>;
export type Changes<Value> = Partial<{ -readonly [Name in keyof Value]: Value[Name] }>;

/** An event of a node, whose common fields are read. */
export interface NodeEvent {
  readonly type: string;
  readonly nodeId: string;
  readonly fields: Fields;
  readonly seq: number;
  readonly time: number;
}

/** The same for its start and its end. */
export function keyOf({ kind, callId, nodeId, step }: OutlineSpan): string {
  return kind === "code" ? `code ${nodeId} ${step}` : `${kind} ${callId}`;
}

export function toSpan(
  kind: OutlineSpan["kind"],
  { nodeId, fields, seq, time }: NodeEvent,
  step: number | null,
): OutlineSpan {
  return {
    kind,
    nodeId,
    step,
    seq,
    endSeq: null,
    callId: kind === "code" ? null : read.id(fields["callId"]),
    startedAt: time,
    endedAt: null,
    ok: null,
    name: "",
    head: "",
    purpose: null,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: null,
    isCached: false,
    isCut: false,
    waits: [],
  };
}

export function ofModelCall({ model, purpose, batch }: Fields): Changes<OutlineSpan> {
  return { name: headOf(model), purpose: read.purpose(purpose), ...read.batch(batch) };
}

export function ofModelReply({ ok, text, error, usage, isCached, isCut }: Fields): Changes<OutlineSpan> {
  const head = headOf(text, SPAN_HEAD) || headOf(error, SPAN_HEAD);
  return { ok: ok === true, head, ...read.usage(usage), isCached: isCached === true, isCut: isCut === true };
}

export function ofCodeResult(result: unknown): Changes<OutlineSpan> {
  const { status, exitCode = 0, stdout, stderr, error, value } = read.codeResult(result);
  const problem = read.object(error);
  const [name, isFinal] = [headOf(problem["name"]), read.isFinal(problem)];
  const failure = name === "" || isFinal ? "" : `${name}: ${headOf(problem["value"])}`;
  const texts = [failure, stdout, read.object(value)["text/plain"], stderr];
  const head = texts.map((text) => headOf(text, SPAN_HEAD)).find((text) => text !== "") ?? "";
  return { ok: status === "ok" || isFinal || (status === "exit" && exitCode === 0), head };
}

export function ofToolResult({ ok, result }: Fields): Changes<OutlineSpan> {
  return { ok: ok === true, head: headOfValue(result, SPAN_HEAD) };
}

/** Without blank lines before it. */
export function firstLine(code: unknown): string {
  return headOf(headOf(code).trimStart().split("\n", 1)[0] ?? "", SPAN_HEAD);
}

/** Of what is known at its start. */
export function charactersOf(part: OutlineNode | OutlineSpan): number {
  const batch = part.batch?.id.length ?? 0;
  if ("kind" in part) return batch + part.nodeId.length + (part.callId?.length ?? 0) + part.name.length;
  return batch + part.id.length + (part.parentId?.length ?? 0) + part.query.length + part.model.length;
}
