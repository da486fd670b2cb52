// The texts of a recorded event that people look for. Each is in one event only: a conversation repeats replies and observations in every
// call, so of the messages of a call only those that are new are searched.

import { isFinal } from "../../../protocol/run-outline/read-event.ts";
import { isBlobReference } from "../../../protocol/run-outline/stored-text.ts";
import type { RunMatch } from "../../../protocol/run-outline/run-outline.ts";

export interface EventText {
  readonly field: RunMatch["field"];
  /** Of output. */
  readonly stream?: "stdout" | "stderr";
  /** A text, a reference, or data with both. */
  readonly value: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

export function* textsOf(event: Fields): Generator<EventText, void> {
  switch (event["type"]) {
    case "node-start":
      return yield { field: "query", value: event["query"] };
    case "model-call-start":
      return yield* promptsOf(event);
    case "model-call-wait":
      return yield { field: "error", value: event["error"] };
    case "model-call-end":
      yield { field: "reasoning", value: event["reasoning"] };
      yield { field: "reply", value: event["text"] };
      return yield { field: "error", value: event["error"] };
    case "code-start":
      return yield { field: "code", value: event["code"] };
    case "code-end":
      return yield* outputsOf(event["result"]);
    case "tool-call-start":
      return yield { field: "tool", value: [event["tool"], event["args"]] };
    case "tool-call-end":
      return yield { field: "tool", value: event["result"] };
    case "step-end":
      return yield { field: "observation", value: event["observation"] };
    case "node-end":
      return yield { field: "answer", value: event["answer"] };
    case "run-end":
      return yield { field: "error", value: toFields(event["result"])["why"] };
  }
}

/** After its first step a node is asked with a reply and an observation, which have events of their own. */
function* promptsOf({ purpose, step, messages }: Fields): Generator<EventText, void> {
  const isRepeated = purpose === "step" && typeof step === "number" && step > 1;
  if (isRepeated || !Array.isArray(messages)) return;
  for (const message of messages) {
    const { role, content } = toFields(message);
    if (role !== "assistant") yield { field: "prompt", value: content };
  }
}

function* outputsOf(result: unknown): Generator<EventText, void> {
  if (isBlobReference(result)) return yield { field: "output", value: result };
  const { stdout, stderr, value, error } = toFields(result);
  yield { field: "output", stream: "stdout", value: stdout };
  yield { field: "output", stream: "stderr", value: stderr };
  yield { field: "output", value: toFields(value)["text/plain"] };
  if (!isFinal(error)) yield { field: "error", value: toFields(error)["traceback"] };
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
