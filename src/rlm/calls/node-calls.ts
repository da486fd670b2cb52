// Calls that code in the session of a node makes: models, children, tools, the answer.
//
// A call is open until it is answered. When the node ends, what is still open is ended and waited for, so that nothing is spent
// and nothing is told behind its back: threads of the code may have asked for something nobody waits for.

import { MaxDepthExceeded } from "../../errors.ts";
import type { HostCall } from "../../session/options.ts";
import type { StopReason } from "../../protocol/runs.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { toBudget } from "../ledger/budget.ts";
import type { ContextItem } from "../context/context.ts";
import type { FinalAnswer } from "../reply/answer.ts";
import type { NodeSettings } from "../node.ts";
import { answerQueries, shorten, toFailure } from "./queries.ts";
import type { Run } from "../run.ts";
import { parseCall, type Queries, type Task } from "./session-calls.ts";

/** Reasons to stop that are no limit. */
const OTHER_REASONS: ReadonlySet<StopReason> = new Set(["answered", "error", "cancelled"]);

/** Which call it is: the turn, and a count within it. */
export interface Place {
  readonly next: () => { readonly turn: number; readonly ordinal: number };
}

export class NodeCalls {
  readonly #run: Run;
  readonly #settings: NodeSettings;
  readonly #place: Place;
  readonly #final: FinalAnswer;
  readonly #open = new Set<Promise<unknown>>();
  readonly #over = new AbortController();
  #joined: { readonly signal: AbortSignal; readonly all: AbortSignal; readonly unlisten: () => void } | undefined;

  constructor(run: Run, settings: NodeSettings, place: Place, final: FinalAnswer) {
    this.#run = run;
    this.#settings = settings;
    this.#place = place;
    this.#final = final;
  }

  /** Rejects for what is no call of ours, or comes too late. */
  async answer(call: HostCall): Promise<unknown> {
    this.#over.signal.throwIfAborted();
    const answering = this.#answer(call);
    this.#open.add(answering);
    try {
      return await answering;
    } finally {
      this.#open.delete(answering);
    }
  }

  /** Resolves when nothing is open any more. */
  async close(): Promise<void> {
    this.#over.abort(new Error("the node has ended"));
    await Promise.allSettled(this.#open);
    this.#joined?.unlisten();
  }

  async #answer({ name, args, signal }: HostCall): Promise<unknown> {
    const call = parseCall(name, args);
    const whileWanted = this.#join(signal);
    const { id: nodeId, account, tools } = this.#settings;
    switch (call.name) {
      case "llm_query":
        return (await this.#query(call, whileWanted)).map(shorten);
      case "rlm_query":
        return Promise.all(call.tasks.map((task) => this.#delegate(task, whileWanted)));
      case "tool":
        return this.#run.tools.call({ nodeId, account, tools, tool: call.tool, args: call.args, signal: whileWanted });
      case "budget":
        return toBudget(account);
      case "final":
        this.#final.give({ text: call.text, data: call.data });
        return null;
    }
  }

  /** All calls of an execution have the same signal. */
  #join(signal: AbortSignal): AbortSignal {
    if (this.#joined?.signal !== signal) {
      this.#joined?.unlisten();
      const all = AbortSignal.any([signal, this.#settings.signal, this.#over.signal]);
      // While one listens, the others are added to it, which is much cheaper than to the signal.
      this.#joined = { signal, all, unlisten: onAbort(all, () => {}) };
    }
    return this.#joined.all;
  }

  #query(
    { prompts, model, system, schema, max_tokens }: Queries,
    signal: AbortSignal,
  ): ReturnType<typeof answerQueries> {
    const { id: nodeId, account } = this.#settings;
    const queries = prompts.map((prompt) => ({ prompt, model, system, schema, max_tokens }));
    return answerQueries(queries, {
      calls: this.#run.calls,
      subModel: this.#run.settings.subModel,
      where: () => {
        const { turn, ordinal } = this.#place.next();
        return { nodeId, account, turn, ordinal };
      },
      signal,
    });
  }

  /** Errors are part of the result, as those of a query are. */
  async #delegate(task: Task, signal: AbortSignal): Promise<unknown> {
    const { depth } = this.#settings;
    const { maxDepth, onLimit } = this.#run.settings;
    try {
      if (depth + 1 <= maxDepth)
        return await this.#run.children.enter(depth + 1, signal, () => this.#ask(task, signal));
      if (onLimit === "throw") this.#run.fail(new MaxDepthExceeded({ depth: depth + 1, limit: maxDepth }));
      const material = task.context === null || task.context === undefined ? "" : `\n\n${toText(task.context)}`;
      const [answer] = await this.#query({ prompts: [`${task.task}${material}`], schema: task.schema }, signal);
      return { ...answer, degraded: true };
    } catch (error) {
      return toFailure(error);
    }
  }

  /** A child with a session of its own. */
  async #ask({ task, context, schema, tools: granted, budget }: Task, signal: AbortSignal): Promise<unknown> {
    const { depth, account, id, tools } = this.#settings;
    const child = this.#run.createNode({
      parentId: id,
      depth: depth + 1,
      query: task,
      context: toContext(context),
      schema: schema ?? undefined,
      tools: granted ? tools.pick(granted) : tools,
      model: this.#run.settings.childModel,
      parent: account,
      grant: toGrant(budget),
      signal,
    });
    const { status, answer, data, why, stopReason } = await child.solve();
    const ok = status === "final" || (status === "partial" && answer !== null);
    return {
      ok,
      text: answer ?? "",
      data: data ?? null,
      error: why,
      kind: ok ? null : OTHER_REASONS.has(stopReason) ? stopReason : "limit",
      truncated: status === "partial",
    };
  }
}

function toText(context: unknown): string {
  return typeof context === "string" ? context : JSON.stringify(context);
}

function toContext(context: unknown): ContextItem[] {
  if (context === null || context === undefined) return [];
  const text = Buffer.from(toText(context)).toString();
  const bytes = Buffer.byteLength(text);
  if (typeof context === "string") return [{ name: "context", kind: "text", bytes, value: { text } }];
  return [{ name: "context", kind: "json", bytes, value: { text, as: "json" } }];
}

function toGrant(budget: Task["budget"]) {
  if (!budget) return undefined;
  const { tokens, cost_usd: costUsd, llm_calls: llmCalls, tool_calls: toolCalls, iterations, seconds } = budget;
  const grant = {
    tokens,
    costUsd,
    llmCalls,
    toolCalls,
    iterations,
    wallMs: seconds === undefined ? undefined : seconds * 1000,
  };
  return Object.fromEntries(Object.entries(grant).filter(([, value]) => value !== undefined));
}
