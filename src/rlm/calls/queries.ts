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

export interface QueryOptions extends Pick<ModelCall, "nodeId" | "account" | "signal" | "batch"> {
  readonly modelCalls: ModelCalls;
  readonly strategyOf: RunSettings["strategyOf"];
  /** For queries that name no model. */
  readonly defaultModel: string;
  /** Default: query. */
  readonly purpose?: ModelCall["purpose"];
  /** Whether regular expressions of the schema are tried on the answer. Default: false, since code wrote the schema. */
  readonly patterns?: boolean;
  /** The position of each query among several. */
  readonly batchOf?: (at: number) => ModelCall["batch"];
  readonly nextPosition: () => CallPosition;
}

/** The shape that the Python side reads. */
interface QueryReply {
  readonly ok: boolean;
  readonly text: string;
  readonly error?: string;
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
    if (!query.schema) return toReply(await callModel(query, toMessages(query, options), options));
    const { reply, data, problem } = await askModel(query, options);
    if (problem !== undefined) return { ...toReply(reply), ok: false, error: problem, kind: "schema" };
    return { ...toReply(reply), data };
  } catch (error) {
    return toFailure(error);
  }
}

/** With a schema: the data, or what was wrong with the last answer. Throws what a model call throws. */
export async function askModel(
  query: Query,
  options: QueryOptions,
): Promise<{ readonly reply: Reply; readonly data?: unknown; readonly problem?: string }> {
  const { patterns = false, strategyOf, defaultModel } = options;
  const { prompts, calls } = strategyOf(query.model ?? defaultModel);
  const check = query.schema ? compileSchema(query.schema, { patterns }) : undefined;
  const messages = toMessages(query, options);
  for (let attempt = 0; ; attempt += 1) {
    const reply = await callModel(query, messages.slice(), options);
    if (check === undefined) return { reply };
    const checked = checkText(reply.text, check);
    if (checked.ok) return { reply, data: checked.data };
    if (attempt >= calls.queryCorrections) return { reply, problem: checked.problem };
    messages.push(
      { role: "assistant", content: reply.text },
      { role: "user", content: rejectedMessage(prompts, checked.problem) },
    );
  }
}

function callModel(query: Query, messages: readonly ChatMessage[], options: QueryOptions): Promise<Reply> {
  const { modelCalls, defaultModel, purpose = "query", nodeId, account, batch, signal, nextPosition } = options;
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
  return { ok: true, text, usage: tokens, cached: isCached, truncated: finishReason === "length" };
}

/** A compact form for plain replies, of which there may be thousands: text, input tokens, output tokens. */
export function toCompact(reply: QueryReply): unknown {
  const { ok, text, usage, cached, truncated, data } = reply;
  const isPlain = ok && usage !== undefined && data === undefined && cached === false && truncated === false;
  return isPlain ? [text, usage.input_tokens, usage.output_tokens] : reply;
}

export function toFailure(error: unknown): QueryReply {
  const failed = { ok: false, text: "", error: (error as Error).message };
  if (error instanceof LimitReached) return { ...failed, kind: "limit", retryable: false };
  if (error instanceof BackendConnectionError) return { ...failed, kind: error.fault, retryable: error.retryable };
  return { ...failed, kind: "error", retryable: false };
}
