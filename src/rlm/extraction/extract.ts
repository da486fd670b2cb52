// The best answer that a model can give for a node where the work has to end, paid from what was kept for finishing.

import type { ChatMessage } from "../../backends/backend.ts";
import type { StopReason } from "../../protocol/runs.ts";
import type { CallPosition } from "../calls/model-calls.ts";
import type { Answer } from "../reply/answer.ts";
import { findFinal } from "../reply/final-call.ts";
import type { NodeOutcome, NodeSettings, RunContext } from "../run-context.ts";
import { extractions } from "./extraction-messages.ts";

export interface ExtractionRequest {
  readonly node: Pick<NodeSettings, "id" | "account" | "model" | "query" | "schema">;
  readonly messages: readonly ChatMessage[];
  readonly answer: Answer;
  readonly position: CallPosition;
  readonly signal: AbortSignal;
  readonly stopReason: StopReason;
  /** What ended the work. */
  readonly why: string;
  /** Whether the whole conversation is known to be too long. */
  readonly isTooLong?: boolean;
}

/** Never rejects. */
export async function extract(run: RunContext, request: ExtractionRequest): Promise<NodeOutcome> {
  const { node, answer, position, signal, stopReason, why } = request;
  const { id: nodeId, account, query, schema } = node;
  const { extractModel: model = node.model, strategyOf } = run.settings;
  const strategy = strategyOf(model);
  const candidates = [...extractions({ strategy, query, schema, messages: request.messages }, why)];
  if (request.isTooLong === true && candidates.length > 1) candidates.shift();
  try {
    const messages = await run.modelCalls.firstAffordable(model, account, candidates);
    const call = { purpose: "extract", nodeId, model, account, messages, signal, ...position } as const;
    const reply = await run.modelCalls.call(call);
    const final = findFinal(reply.text);
    const text = (final.kind === "value" ? final.text : reply.text).trim();
    if (text === "") return { status: "failed", stopReason, answer: null, why };
    return { status: "partial", stopReason, answer: text, why, ...answer.parse(text) };
  } catch (error) {
    return { status: "failed", stopReason, answer: null, why: `${why}; ${(error as Error).message}` };
  }
}
