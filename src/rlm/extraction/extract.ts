// The best answer that a model can give for a node where the work has to end, paid from what was kept for finishing.
//
// Code is no answer any more: a reply that is code is asked again, once. A conversation that a filter refused is tried without what the
// model was shown last.

import type { ChatMessage } from "../../backends/backend.ts";
import { BackendConnectionError } from "../../errors.ts";
import type { StopReason } from "../../protocol/runs.ts";
import type { CallPosition } from "../calls/model-calls.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import type { Answer } from "../reply/answer.ts";
import type { NodeOutcome, NodeSettings, RunContext } from "../run-context.ts";
import { extractions } from "./extraction-messages.ts";
import { toPlainAnswer } from "./plain-answer.ts";

export interface ExtractionRequest {
  readonly node: Pick<NodeSettings, "id" | "account" | "model" | "query" | "schema">;
  readonly messages: readonly ChatMessage[];
  readonly answer: Answer;
  readonly nextPosition: () => CallPosition;
  readonly signal: AbortSignal;
  readonly stopReason: StopReason;
  /** What ended the work. */
  readonly why: string;
  /** Whether the whole conversation is known to be too long, or to be refused. */
  readonly isRefused: boolean;
}

/** Never rejects. */
export async function extract(run: RunContext, request: ExtractionRequest): Promise<NodeOutcome> {
  const { answer, stopReason, why } = request;
  try {
    const text = await askForAnswer(run, request);
    if (text === "") return { status: "failed", stopReason, answer: null, why };
    return { status: "partial", stopReason, answer: text, why, ...answer.parse(text) };
  } catch (error) {
    const { message } = error as Error;
    return { status: "failed", stopReason, answer: null, why: message === why ? why : `${why}; ${message}` };
  }
}

async function askForAnswer(run: RunContext, request: ExtractionRequest): Promise<string> {
  const asked = await ask(run, request).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
    return ask(run, { ...request, messages: request.messages.slice(0, -1), isRefused: true });
  });
  const first = toPlainAnswer(asked.reply, request.messages);
  if (first !== undefined) return first;
  const again = run.settings.strategyOf(asked.model).prompts.extractNoCode;
  const messages: ChatMessage[] = [
    ...asked.messages,
    { role: "assistant", content: asked.reply },
    { role: "user", content: again },
  ];
  const reply = await call(run, request, asked.model, messages).catch((error: unknown) => {
    if (error instanceof LimitReached) return ""; // there was enough for one
    throw error;
  });
  const second = toPlainAnswer(reply, request.messages);
  if (second === undefined || second === "") throw new Error("the model wrote code instead of an answer");
  return second;
}

interface Asked {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly reply: string;
}

async function ask(run: RunContext, request: ExtractionRequest): Promise<Asked> {
  const { node, why, isRefused } = request;
  const { account, query, schema } = node;
  const { extractModel: model = node.model, strategyOf } = run.settings;
  const candidates = [...extractions({ strategy: strategyOf(model), query, schema, messages: request.messages }, why)];
  if (isRefused && candidates.length > 1) candidates.shift();
  const messages = await run.modelCalls.firstAffordable(model, account, candidates);
  return { model, messages, reply: await call(run, request, model, messages) };
}

async function call(
  run: RunContext,
  { node, nextPosition, signal }: ExtractionRequest,
  model: string,
  messages: readonly ChatMessage[],
): Promise<string> {
  const { id: nodeId, account } = node;
  const options = { purpose: "extract", nodeId, model, account, messages, signal, ...nextPosition() } as const;
  const { text, finishReason } = await run.modelCalls.call(options);
  if (finishReason === "refusal") throw run.modelCalls.refusalOf(model);
  return text;
}

function isRefusal(error: unknown): boolean {
  return error instanceof BackendConnectionError && error.fault === "refusal";
}
