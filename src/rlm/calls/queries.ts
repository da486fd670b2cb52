// `llm_query` and `llm_query_batched`: each prompt is one model call. Errors are part of the results.

import type { ChatMessage } from "../../backends/backend.ts";
import { BackendConnectionError } from "../../errors.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import { compileSchema, parseAnswer, type Checked } from "../reply/answer-schema.ts";
import type { RunSettings } from "../run-context.ts";
import { fillTemplate } from "../strategy/fill-template.ts";
import { rejectedMessage } from "../strategy/prompts.ts";
import type { Query } from "../../protocol/worker/call-arguments.ts";
import type { CallPosition, ModelCall, ModelCalls, Reply } from "./model-calls.ts";
import { problemOf, schemaProblemOf, type ReplyProblem } from "./reply-problem.ts";

export interface QueryOptions extends Pick<ModelCall, "nodeId" | "account" | "signal" | "batch"> {
  readonly modelCalls: ModelCalls;
  readonly strategyOf: RunSettings["strategyOf"];
  /** For queries that name no model. */
  readonly defaultModel: string;
  /** Throws where a query may not ask the model that it names. */
  readonly checkModel?: (name: string) => void;
  /** Default: query. */
  readonly purpose?: ModelCall["purpose"];
  /** Whether regular expressions of the schema are tried on the answer. Default: false, since code wrote the schema. */
  readonly patterns?: boolean;
  /** The position of each query among several. */
  readonly batchOf?: (at: number) => ModelCall["batch"];
  readonly nextPosition: () => CallPosition;
}

/** The shape that the Python side reads. */
export interface QueryReply {
  readonly ok: boolean;
  /** Where it is not ok: what there is of an answer. */
  readonly text: string;
  /** `stop` for a whole answer. Null: there is none. */
  readonly finish_reason: string | null;
  readonly error?: string | null;
  readonly kind?: string;
  readonly retryable?: boolean;
  readonly data?: unknown;
  readonly cached?: boolean;
  readonly truncated?: boolean;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

export function answerQueries(queries: readonly Query[], options: QueryOptions): Promise<QueryReply[]> {
  const { batchOf = () => undefined } = options;
  return Promise.all(queries.map((query, at) => answerQuery(query, { ...options, batch: batchOf(at) })));
}

async function answerQuery(query: Query, options: QueryOptions): Promise<QueryReply> {
  try {
    const { reply, data, problem } = await askModel(query, options);
    if (problem === undefined) return { ...toReply(reply), ...(data !== undefined && { data }) };
    const { kind, why } = problem;
    const error = kind === "length" ? `${why}: raise max_tokens, or ask for less` : why;
    return { ...toReply(reply), ok: false, error, kind, retryable: false };
  } catch (error) {
    return toFailure(error);
  }
}

/** `problem`: the reply is no answer. `data`: with a schema. Throws what a model call throws. */
export async function askModel(
  query: Query,
  options: QueryOptions,
): Promise<{ readonly reply: Reply; readonly data?: unknown; readonly problem?: ReplyProblem }> {
  const { patterns = false, strategyOf, defaultModel } = options;
  const { prompts, calls } = strategyOf(query.model ?? defaultModel);
  const check = query.schema ? compileSchema(query.schema, { patterns }) : undefined;
  const messages = toMessages(query, options);
  for (let attempt = 0; ; attempt += 1) {
    const reply = await callModel(query, messages.slice(), options);
    const problem = problemOf(reply);
    if (problem !== undefined) return { reply, problem };
    if (check === undefined) return { reply };
    const checked = checkText(reply.text, check);
    if (checked.ok) return { reply, data: checked.data };
    // The correction of an answer that was cut off would be cut off again.
    const isLast = attempt >= calls.queryCorrections || reply.finishReason === "length";
    if (isLast) return { reply, problem: schemaProblemOf(reply, checked.problem) };
    messages.push(
      { role: "assistant", content: reply.text },
      { role: "user", content: rejectedMessage(prompts, checked.problem) },
    );
  }
}

function callModel(query: Query, messages: readonly ChatMessage[], options: QueryOptions): Promise<Reply> {
  const { modelCalls, defaultModel, purpose = "query", nodeId, account, batch, signal, nextPosition } = options;
  if (query.model) options.checkModel?.(query.model);
  const { step, ordinal } = nextPosition();
  return modelCalls.call({
    nodeId,
    account,
    step,
    ordinal,
    purpose,
    batch,
    model: query.model ?? defaultModel,
    messages,
    maxTokens: query.max_tokens ?? undefined,
    schema: query.schema ?? undefined,
    signal,
  });
}

function toMessages(
  { system, prompt, schema, model }: Query,
  { strategyOf, defaultModel }: QueryOptions,
): ChatMessage[] {
  const { querySchema } = strategyOf(model ?? defaultModel).prompts;
  const form = schema ? `\n\n${fillTemplate(querySchema, { schema: JSON.stringify(schema) })}` : "";
  const question: ChatMessage = { role: "user", content: `${prompt}${form}` };
  return system ? [{ role: "system", content: system }, question] : [question];
}

function checkText(text: string, check: (data: unknown) => Checked): Checked {
  const parsed = parseAnswer(text);
  return parsed.ok ? check(parsed.data) : parsed;
}

function toReply({ text, isCached, finishReason, usage }: Reply): QueryReply {
  const tokens = { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
  const truncated = finishReason === "length";
  return { ok: true, text, finish_reason: finishReason, usage: tokens, cached: isCached, truncated };
}

/** A compact form for plain replies, of which there may be thousands: text, input tokens, output tokens. */
export function toCompact(reply: QueryReply): unknown {
  const { ok, text, usage, cached, finish_reason, data } = reply;
  const isPlain = ok && usage !== undefined && data === undefined && cached === false && finish_reason === "stop";
  return isPlain ? [text, usage.input_tokens, usage.output_tokens] : reply;
}

export function toFailure(error: unknown): QueryReply {
  const isRefusal = error instanceof BackendConnectionError && error.fault === "refusal";
  const finish_reason = isRefusal ? "refusal" : null;
  const failed = { ok: false, text: "", finish_reason, error: (error as Error).message };
  if (error instanceof LimitReached) return { ...failed, kind: "limit", retryable: false };
  if (error instanceof BackendConnectionError) return { ...failed, kind: error.fault, retryable: error.retryable };
  return { ...failed, kind: "error", retryable: false };
}
