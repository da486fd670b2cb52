// Calls from the code of a node to the host: model calls, child nodes, tools, the answer.
//
// When the node ends, calls that are still open are aborted and awaited, so that nothing is spent and no event is emitted afterwards:
// threads of the code may have made calls that nobody waits for.

import { MaxDepthExceeded } from "../../errors.ts";
import type { Batch } from "../../protocol/run-events.ts";
import type { LedgerLimits } from "../../protocol/runs.ts";
import type { WorkerCall } from "../../session/options.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { toBudget } from "../ledger/budget.ts";
import { CallTally, type CountedReply } from "../notes/call-tally.ts";
import type { Answer } from "../reply/answer.ts";
import type { NodeSettings, RunContext } from "../run-context.ts";
import { parseCall, type Queries, type Task } from "../../protocol/worker/call-arguments.ts";
import { ChildContexts, toText } from "./child-contexts.ts";
import { toChildReply } from "./child-reply.ts";
import { answerQueries, toCompact, toFailure, type QueryOptions, type QueryReply } from "./queries.ts";

const NO_SESSION =
  "Cannot give this context to a model: at this depth rlm_query is a single model call, and the context is not text, or too long. " +
  "Split it, and ask about each part";

export class HostCalls {
  readonly #run: RunContext;
  readonly #settings: NodeSettings;
  readonly #answer: Answer;
  readonly #nextPosition: QueryOptions["nextPosition"];
  /** What became of the calls of a block. Tools count as calls alone: their failures are exceptions. */
  readonly tally = new CallTally();
  readonly #open = new Set<Promise<unknown>>();
  readonly #ended = new AbortController();
  #batches = 0;
  #joined: { readonly signal: AbortSignal; readonly all: AbortSignal; readonly unlisten: () => void } | undefined;

  constructor(run: RunContext, settings: NodeSettings, answer: Answer, nextPosition: QueryOptions["nextPosition"]) {
    this.#run = run;
    this.#settings = settings;
    this.#answer = answer;
    this.#nextPosition = nextPosition;
  }

  /** Rejects for an unknown call, and after `close`. */
  async handle(call: WorkerCall): Promise<unknown> {
    this.#ended.signal.throwIfAborted();
    const handling = this.#handle(call);
    this.#open.add(handling);
    try {
      return await handling;
    } finally {
      this.#open.delete(handling);
    }
  }

  /** Resolves when no call is open any more. */
  async close(): Promise<void> {
    this.#ended.abort(new Error("the node has ended"));
    await Promise.allSettled(this.#open);
    this.#joined?.unlisten();
  }

  async #handle(hostCall: WorkerCall): Promise<unknown> {
    const { name, args, signal } = hostCall;
    const call = parseCall(name, args);
    const joined = this.#join(signal);
    const { id: nodeId, account, tools } = this.#settings;
    switch (call.name) {
      case "llm_query": {
        const count = this.tally.begin(call.prompts.length);
        const replies = await this.#query(call, joined, this.#nextBatch(call.prompts.length));
        count(replies);
        return replies.map(toCompact);
      }
      case "rlm_query": {
        const batchOf = this.#nextBatch(call.tasks.length);
        const count = this.tally.begin(call.tasks.length);
        await using contexts = new ChildContexts(hostCall, call.tasks);
        const replies = await Promise.all(
          call.tasks.map((task, at) => this.#delegate(task, contexts, joined, batchOf(at))),
        );
        count(replies);
        return replies;
      }
      case "tool":
        this.tally.countTool();
        return this.#run.toolCalls.call({ nodeId, account, tools, tool: call.tool, args: call.args, signal: joined });
      case "budget":
        return toBudget(account);
      case "final":
        this.#answer.submit({ text: call.text, data: call.data });
        return null;
    }
  }

  /** All calls of an execution have the same signal, so the joined one is kept. */
  #join(signal: AbortSignal): AbortSignal {
    if (this.#joined?.signal !== signal) {
      this.#joined?.unlisten();
      const all = AbortSignal.any([signal, this.#settings.signal, this.#ended.signal]);
      // One permanent listener: further ones are then added to ours, which is much cheaper than to the signal.
      this.#joined = { signal, all, unlisten: onAbort(all, () => {}) };
    }
    return this.#joined.all;
  }

  #query(
    { prompts, model, system, schema, max_tokens }: Queries,
    signal: AbortSignal,
    batchOf: (at: number) => Batch | undefined,
  ): ReturnType<typeof answerQueries> {
    const { id: nodeId, account } = this.#settings;
    const queries = prompts.map((prompt) => ({ prompt, model, system, schema, max_tokens }));
    return answerQueries(queries, {
      modelCalls: this.#run.modelCalls,
      strategyOf: this.#run.settings.strategyOf,
      defaultModel: this.#run.settings.subModel,
      checkModel: (name) => this.#run.modelChoice.check(name),
      nodeId,
      account,
      batchOf,
      nextPosition: this.#nextPosition,
      signal,
    });
  }

  /** The positions of so many that are asked at once. None for a single one. */
  #nextBatch(size: number): (at: number) => Batch | undefined {
    if (size === 1) return () => undefined;
    this.#batches += 1;
    const id = `b${this.#batches}`;
    return (at) => ({ id, ordinal: at + 1, size });
  }

  /** Errors are part of the result. Beyond the maximal depth it is a query without a session. */
  async #delegate(
    task: Task,
    contexts: ChildContexts,
    signal: AbortSignal,
    batch: Batch | undefined,
  ): Promise<CountedReply> {
    const { depth } = this.#settings;
    const { maxDepth, onLimit } = this.#run.settings;
    try {
      if (depth + 1 <= maxDepth)
        return await this.#run.concurrency.run(depth + 1, signal, () => this.#runChild(task, contexts, signal, batch));
      if (onLimit === "throw") this.#run.fail(new MaxDepthExceeded({ depth: depth + 1, limit: maxDepth }));
      if (task.offered) return { ...toFailure(new Error(NO_SESSION)), kind: "context-too-long", degraded: true };
      const material = task.context === null || task.context === undefined ? "" : `\n\n${toText(task.context)}`;
      const prompts = [`${task.task}${material}`];
      const [answer] = await this.#query({ prompts, schema: task.schema }, signal, () => batch);
      if (answer === undefined) throw new Error("there is no answer");
      return { ...answer, degraded: true };
    } catch (error) {
      return toFailure(error);
    }
  }

  async #runChild(
    { task, schema, tools: granted, budget, ...given }: Task,
    contexts: ChildContexts,
    signal: AbortSignal,
    batch: Batch | undefined,
  ): Promise<QueryReply> {
    const { depth, account, id, tools } = this.#settings;
    await using context = await contexts.open(given, signal);
    const child = this.#run.createNode({
      parentId: id,
      depth: depth + 1,
      query: task,
      context: context.items,
      schema: schema ?? undefined,
      tools: granted ? tools.pick(granted) : tools,
      model: this.#run.settings.childModel,
      parent: account,
      grant: toGrant(budget),
      batch,
      signal,
    });
    return toChildReply(await child.solve(), { hasSchema: Boolean(schema) });
  }
}

function toGrant(budget: Task["budget"]): LedgerLimits | undefined {
  if (!budget) return undefined;
  const { tokens, cost_usd: costUsd, llm_calls: llmCalls, tool_calls: toolCalls, iterations, seconds } = budget;
  const wallMs = seconds === undefined ? undefined : seconds * 1000;
  return omitUndefined({ tokens, costUsd, llmCalls, toolCalls, iterations, wallMs });
}
