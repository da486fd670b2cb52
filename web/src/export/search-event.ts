// Looks for a text in one recorded event.

import type { RecordedEvent, RunMatch, RunOutline } from "../state/runs/run-source.ts";
import { isRecord, numberIn, stringIn, toRunText } from "../state/runs/run-text.ts";

type Field = RunMatch["field"];

const AROUND = 80;

/** One match for each text that has it. */
export async function searchEvent(
  event: RecordedEvent,
  sought: string,
  outline: RunOutline,
  blob: (hash: string) => Promise<string>,
): Promise<readonly RunMatch[]> {
  const matches: RunMatch[] = [];
  const pattern = sought.toLowerCase();
  for (const { field, value, stream } of textsOf(event)) {
    const stored = toRunText(value);
    const text = stored.kind === "whole" ? stored.text : await blob(stored.hash);
    const at = text.toLowerCase().indexOf(pattern);
    if (at === -1) continue;
    matches.push({
      seq: event.seq,
      nodeId: stringIn(event, "nodeId") || null,
      step: numberIn(event, "step") ?? stepOf(event, outline),
      callId: stringIn(event, "callId") || null,
      field,
      ...(stream !== undefined && { stream }),
      before: text.slice(Math.max(0, at - AROUND), at),
      text: text.slice(at, at + sought.length),
      after: text.slice(at + sought.length, at + sought.length + AROUND),
    });
  }
  return matches;
}

/** The end of a call does not say its step. */
function stepOf(event: RecordedEvent, outline: RunOutline): number | null {
  const callId = stringIn(event, "callId");
  const nodeId = stringIn(event, "nodeId");
  if (callId === "") return null;
  return outline.spans.find((span) => span.callId === callId && span.nodeId === nodeId)?.step ?? null;
}

interface FieldText {
  readonly field: Field;
  readonly value: unknown;
  readonly stream?: "stdout" | "stderr";
}

function textsOf(event: RecordedEvent): readonly FieldText[] {
  switch (event.type) {
    case "node-start":
      return [{ field: "query", value: event["query"] }];
    case "model-call-start":
      return messagesOf(event["messages"]).map((value) => ({ field: "prompt", value }));
    case "model-call-end":
      return [
        { field: "reasoning", value: event["reasoning"] },
        { field: "reply", value: event["text"] },
        { field: "error", value: event["error"] },
      ];
    case "code-start":
      return [{ field: "code", value: event["code"] }];
    case "code-end":
      return resultTexts(event["result"]);
    case "step-end":
      return [{ field: "observation", value: event["observation"] }];
    case "tool-call-start":
      return [{ field: "tool", value: event["args"] }];
    case "tool-call-end":
      return [{ field: "tool", value: event["result"] }];
    case "node-end":
      return [{ field: "answer", value: event["answer"] }];
    default:
      return [];
  }
}

function messagesOf(messages: unknown): readonly unknown[] {
  if (!Array.isArray(messages)) return [];
  return (messages as readonly unknown[]).filter(isRecord).map(({ content }) => content);
}

function resultTexts(result: unknown): readonly FieldText[] {
  if (!isRecord(result)) return [];
  const { stdout, stderr, value, error } = result;
  return [
    { field: "output", value: stdout, stream: "stdout" },
    { field: "output", value: stderr, stream: "stderr" },
    { field: "output", value: isRecord(value) ? value["text/plain"] : undefined },
    { field: "error", value: isRecord(error) ? error["traceback"] : undefined },
  ];
}
