// `llm_query` and `llm_query_batched`: each prompt is one call of a model. Errors are part of the results.

import type { ChatMessage } from "../../backends/backend.ts";
import { BackendConnectionError } from "../../errors.ts";
import { compileSchema, parseAnswer, type Checked } from "../reply/answer-schema.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import type { Ask, ModelCalls, Reply } from "./model-calls.ts";
import { schemaMessage } from "../prompts.ts";
import type { Query } from "./session-calls.ts";

interface Setting {
  readonly calls: ModelCalls;
  readonly subModel: string;
  /** Default: query. */
  readonly purpose?: Ask["purpose"];
  /** Whether regular expressions of the schema are tried on the answer. Default: false, since code wrote it. */
  readonly patterns?: boolean;
  readonly where: () => Pick<Ask, "nodeId" | "account" | "turn" | "ordinal">;
  readonly signal: AbortSignal;
}

/** As Python reads it. Absent: false, or nothing. */
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

/** An answer of the wrong form is asked for again so often. */
const MAX_CORRECTIONS = 2;

export function answerQueries(queries: readonly Query[], setting: Setting): Promise<QueryReply[]> {
  return Promise.all(queries.map((query) => answerQuery(query, setting)));
}

async function answerQuery(query: Query, setting: Setting): Promise<QueryReply> {
  try {
    if (!query.schema) return toReply(await ask(query, toMessages(query), setting));
    const { reply, data, problem } = await answerText(query, setting);
    if (problem !== undefined) return { ...toReply(reply), ok: false, error: problem, kind: "schema" };
    return { ...toReply(reply), data };
  } catch (error) {
    return toFailure(error);
  }
}

/** With a schema: its data, or what was wrong with the last of the answers. Throws what a call of a model throws. */
export async function answerText(
  query: Query,
  setting: Setting,
): Promise<{ readonly reply: Reply; readonly data?: unknown; readonly problem?: string }> {
  const { patterns = false } = setting;
  const check = query.schema ? compileSchema(query.schema, { patterns }) : undefined;
  const messages = toMessages(query);
  for (let attempt = 0; ; attempt += 1) {
    const reply = await ask(query, messages.slice(), setting);
    if (check === undefined) return { reply };
    const checked = checkText(reply.text, check);
    if (checked.ok) return { reply, data: checked.data };
    if (attempt >= MAX_CORRECTIONS) return { reply, problem: checked.problem };
    messages.push(
      { role: "assistant", content: reply.text },
      { role: "user", content: schemaMessage(checked.problem) },
    );
  }
}

function ask(query: Query, messages: readonly ChatMessage[], setting: Setting): Promise<Reply> {
  const { calls, subModel, purpose = "query", where, signal } = setting;
  const { nodeId, account, turn, ordinal } = where();
  return calls.ask({
    nodeId,
    account,
    turn,
    ordinal,
    purpose,
    model: query.model ?? subModel,
    messages,
    maxTokens: query.max_tokens ?? undefined,
    schema: query.schema ?? undefined,
    signal,
  });
}

function toMessages({ system, prompt, schema }: Query): ChatMessage[] {
  const form = schema ? `\n\nAnswer with JSON only, which follows this schema:\n${JSON.stringify(schema)}` : "";
  const asked: ChatMessage = { role: "user", content: `${prompt}${form}` };
  return system ? [{ role: "system", content: system }, asked] : [asked];
}

function checkText(text: string, check: (data: unknown) => Checked): Checked {
  const parsed = parseAnswer(text);
  return parsed.ok ? check(parsed.data) : parsed;
}

function toReply({ text, isCached, finishReason, spent }: Reply): QueryReply {
  const usage = { input_tokens: spent.inputTokens, output_tokens: spent.outputTokens };
  return { ok: true, text, usage, cached: isCached, truncated: finishReason === "length" };
}

/** Text, input tokens and output tokens, where there is nothing else to say: there may be thousands. */
export function shorten(reply: QueryReply): unknown {
  const { ok, text, usage, cached, truncated, data } = reply;
  const isPlain = ok && usage !== undefined && data === undefined && cached === false && truncated === false;
  return isPlain ? [text, usage.input_tokens, usage.output_tokens] : reply;
}

/** What was thrown, as a result. */
export function toFailure(error: unknown): QueryReply {
  const failed = { ok: false, text: "", error: (error as Error).message };
  if (error instanceof LimitReached) return { ...failed, kind: "limit", retryable: false };
  if (error instanceof BackendConnectionError) return { ...failed, kind: error.fault, retryable: error.retryable };
  return { ...failed, kind: "error", retryable: false };
}
