// One model with its session inside a run: it replies, its code is run, it is shown what came of it, until it gives the answer.
//
// A node never throws because of what its model or its code did. Limits end it with the best answer that there is.

import type { ChatMessage } from "../backends/backend.ts";
import { MaxDepthExceeded } from "../errors.ts";
import type { HostCall } from "../session/session-options.ts";
import type { NodeId, RunStatus, StopReason } from "../protocol/runs.ts";
import type { Session } from "../session/session.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { compileSchema, parseAnswer, type Checked, type JSONSchema } from "./answer-schema.ts";
import { loadContext, type ContextItem } from "./context.ts";
import { CodeScanner } from "./fences.ts";
import { findFinal } from "./finals.ts";
import type { Account } from "./ledger.ts";
import { LimitReached, toLimit } from "./limit-reached.ts";
import type { Ask, Reply } from "./model-calls.ts";
import { observe } from "./observe.ts";
import * as prompts from "./prompts.ts";
import { answerQueries } from "./queries.ts";
import type { Run } from "./run.ts";
import { parseCall, type SessionCall, type Task } from "./session-calls.ts";

export interface NodeSettings {
  readonly id: NodeId;
  readonly parentId: NodeId | null;
  readonly depth: number;
  readonly query: string;
  readonly context: readonly ContextItem[];
  readonly schema: JSONSchema | undefined;
  readonly tools: ToolRegistry;
  readonly model: string;
  readonly account: Account;
  readonly signal: AbortSignal;
}

export interface NodeOutcome {
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  readonly answer: string | null;
  readonly data?: unknown;
  readonly why: string | null;
}

interface Given {
  readonly text: string;
  readonly data: unknown;
}

/** So often an answer of the wrong form is given back. */
const MAX_CORRECTIONS = 3;

export class Node {
  readonly #run: Run;
  readonly #settings: NodeSettings;
  readonly #messages: ChatMessage[] = [];
  readonly #check: ((data: unknown) => Checked) | undefined;
  #turn = 0;
  /** Of the calls in this turn. */
  #ordinal = 0;
  #given: Given | undefined;
  #corrections = 0;
  #joined: { readonly signal: AbortSignal; readonly both: AbortSignal } | undefined;

  constructor(run: Run, settings: NodeSettings) {
    this.#run = run;
    this.#settings = settings;
    this.#check = settings.schema === undefined ? undefined : compileSchema(settings.schema);
  }

  async solve(): Promise<NodeOutcome> {
    const { id: nodeId, parentId, depth, query, model, context, account } = this.#settings;
    const sizes = context.map(({ name, kind, bytes }) => ({ name, kind, bytes }));
    this.#run.teller.tell({
      type: "node-start",
      nodeId,
      parentId,
      depth,
      query,
      model,
      context: sizes,
      isDegraded: false,
    });
    const outcome = await this.#solve();
    const { status, stopReason, answer } = outcome;
    this.#run.teller.tell({ type: "node-end", nodeId, status, stopReason, answer, usage: account.spent() });
    return outcome;
  }

  async #solve(): Promise<NodeOutcome> {
    try {
      const session = await this.#run.openSession((call) => this.#answerCall(call));
      try {
        return await this.#loop(session);
      } finally {
        void session.discard();
      }
    } catch (error) {
      return this.#giveUp(error);
    }
  }

  async #loop(session: Session): Promise<NodeOutcome> {
    await this.#prepare(session);
    for (;;) {
      this.#settings.signal.throwIfAborted();
      const { maxIterations } = this.#run.settings;
      if (this.#turn >= maxIterations) throw toLimit("iterations", this.#settings.id, this.#turn, maxIterations);
      this.#settings.account.countIteration();
      this.#turn += 1;
      this.#ordinal = 0;
      const outcome = await this.#step(session);
      if (outcome !== undefined) return outcome;
    }
  }

  async #prepare(session: Session): Promise<void> {
    const { query, schema, tools, context, depth } = this.#settings;
    const listings = tools.listings();
    const setUp = `import rlm_session; rlm_session.install(globals(), ${JSON.stringify(JSON.stringify(listings))})`;
    (await session.execute(setUp, { timeoutMs: null }).result).unwrap();
    const lines = await loadContext(session, context);
    const facts = { context: lines, tools: listings, canRecurse: depth < this.#run.settings.maxDepth, schema };
    this.#messages.push(
      { role: "system", content: prompts.systemPrompt(facts) },
      { role: "user", content: prompts.firstMessage(query, facts) },
    );
  }

  /** One reply and what it causes. Undefined: it goes on. */
  async #step(session: Session): Promise<NodeOutcome | undefined> {
    const { id: nodeId } = this.#settings;
    const turn = this.#turn;
    this.#run.teller.tell({ type: "step-start", nodeId, turn });
    const scan = (): CodeScanner => new CodeScanner((code) => parses(session, code));
    let scanner = scan();
    const reply = await this.#ask("turn", {
      onText: (text) => scanner.push(text) !== undefined,
      onRetry: () => {
        scanner = scan();
      },
    });
    const scanned = await scanner.end(reply.finishReason);
    const content = scanned.kind === "code" ? reply.text.slice(0, scanned.block.end) : reply.text;
    this.#messages.push({ role: "assistant", content: content.trimEnd() || "(nothing)" });
    const told =
      scanned.kind === "code"
        ? await this.#runCode(session, scanned.block.code)
        : await this.#read(session, reply.text, scanned.tell);
    return this.#conclude(told);
  }

  /** A reply without code: an answer in its text, or nothing that could be done. */
  async #read(session: Session, text: string, told: string): Promise<string> {
    const final = findFinal(text);
    if (final.kind === "none") return final.hint ?? told;
    if (final.kind === "value") {
      this.#given = { text: final.text, data: final.text };
      return "";
    }
    const { error } = await session.execute(`FINAL_VAR(${JSON.stringify(final.name)})`).result;
    return error?.value ?? "";
  }

  /** The end of a step: the answer is accepted, given back, or there is none and the model is told what happened. */
  #conclude(happened: string): NodeOutcome | undefined {
    const { id: nodeId, account } = this.#settings;
    const turn = this.#turn;
    const accepted = this.#accept();
    const told = accepted?.ok === false ? prompts.schemaMessage(accepted.problem) : happened;
    this.#run.teller.tell({ type: "step-end", nodeId, turn, told });
    if (accepted?.ok === true) return accepted.outcome;
    this.#messages.push({ role: "user", content: `${told}\n\n${this.#run.describeBudget(account, turn)}` });
    return undefined;
  }

  async #runCode(session: Session, code: string): Promise<string> {
    const { id: nodeId, signal } = this.#settings;
    const turn = this.#turn;
    this.#run.teller.tell({ type: "code-start", nodeId, turn, code });
    const execution = session.execute(code, { timeoutMs: this.#run.settings.cellTimeoutMs, signal });
    for await (const event of execution) {
      if (event.type !== "output-delta") continue;
      this.#run.teller.tell({ type: "output-delta", nodeId, turn, stream: event.stream, text: event.text });
    }
    const result = await execution.result;
    signal.throwIfAborted();
    const { displays: _, ...recorded } = result;
    this.#run.teller.tell({ type: "code-end", nodeId, turn, result: recorded });
    return observe(session, execution, result, turn);
  }

  /** Undefined: no answer was given. */
  #accept(): { ok: true; outcome: NodeOutcome } | { ok: false; problem: string } | undefined {
    const given = this.#given;
    this.#given = undefined;
    if (given === undefined) return undefined;
    const outcome = (data: unknown): NodeOutcome => ({
      status: "final",
      stopReason: "answered",
      answer: given.text,
      data,
      why: null,
    });
    if (this.#check === undefined) return { ok: true, outcome: outcome(given.data) };
    const checked = this.#checkGiven(given);
    if (checked.ok) return { ok: true, outcome: outcome(checked.data) };
    this.#corrections += 1;
    if (this.#corrections <= MAX_CORRECTIONS) return { ok: false, problem: checked.problem };
    const why = `the answer does not follow the schema: ${checked.problem}`;
    return { ok: true, outcome: { status: "partial", stopReason: "error", answer: given.text, why } };
  }

  #checkGiven({ text, data }: Given): Checked {
    const check = this.#check ?? ((value: unknown): Checked => ({ ok: true, data: value }));
    const direct = check(data);
    if (direct.ok || typeof data !== "string") return direct;
    const parsed = parseAnswer(text);
    return parsed.ok ? check(parsed.data) : direct;
  }

  async #ask(purpose: "turn" | "extract", listener: Pick<Ask, "onText" | "onRetry"> = {}): Promise<Reply> {
    const { id: nodeId, account, model } = this.#settings;
    const signal = purpose === "extract" ? this.#run.finishingSignal : this.#settings.signal;
    this.#ordinal += 1;
    return this.#run.calls.ask({
      nodeId,
      account,
      purpose,
      turn: this.#turn,
      ordinal: this.#ordinal,
      model,
      messages: [...this.#messages],
      signal,
      ...listener,
    });
  }

  async #giveUp(error: unknown): Promise<NodeOutcome> {
    const { signal } = this.#settings;
    if (signal.aborted && !this.#run.isOutOfTime)
      return { status: "cancelled", stopReason: "cancelled", answer: null, why: "it was cancelled" };
    const limit = this.#run.isOutOfTime ? signal.reason : error;
    if (limit instanceof LimitReached) return this.#extract(limit);
    return {
      status: "failed",
      stopReason: "error",
      answer: null,
      why: error instanceof Error ? error.message : String(error),
    };
  }

  /** The best answer that can be had from what was seen, with what was kept for that. */
  async #extract(limit: LimitReached): Promise<NodeOutcome> {
    const { axis } = limit;
    if (this.#messages.length === 0) return { status: "failed", stopReason: axis, answer: null, why: limit.message };
    this.#messages.push({ role: "user", content: prompts.extractMessage(limit.message) });
    try {
      const { text } = await this.#ask("extract");
      const final = findFinal(text);
      const answer = (final.kind === "value" ? final.text : text).trim();
      const parsed = this.#check === undefined ? undefined : parseAnswer(answer);
      const checked = parsed?.ok === true ? this.#check?.(parsed.data) : undefined;
      if (answer === "") return { status: "failed", stopReason: axis, answer: null, why: limit.message };
      return {
        status: "partial",
        stopReason: axis,
        answer,
        why: limit.message,
        ...(checked?.ok === true && { data: checked.data }),
      };
    } catch (error) {
      return { status: "failed", stopReason: axis, answer: null, why: `${limit.message}; ${(error as Error).message}` };
    }
  }

  async #answerCall({ name, args, signal }: HostCall): Promise<unknown> {
    const call = parseCall(name, args);
    const both = this.#withOwn(signal);
    switch (call.name) {
      case "llm_query":
        return this.#query(call, both);
      case "rlm_query":
        return Promise.all(call.tasks.map((task) => this.#delegate(task, both)));
      case "tool":
        return this.#run.callTool(this.#settings, call.tool, call.args, both);
      case "budget":
        return this.#run.budget(this.#settings.account);
      case "final":
        this.#given = { text: call.text, data: call.data };
        return null;
    }
  }

  /** All calls of an execution have the same signal. */
  #withOwn(signal: AbortSignal): AbortSignal {
    if (this.#joined?.signal !== signal) {
      this.#joined = { signal, both: AbortSignal.any([signal, this.#settings.signal]) };
    }
    return this.#joined.both;
  }

  #query({ queries }: Extract<SessionCall, { name: "llm_query" }>, signal: AbortSignal): Promise<unknown> {
    const { id: nodeId, account } = this.#settings;
    return answerQueries(queries, {
      calls: this.#run.calls,
      subModel: this.#run.settings.subModel,
      where: () => {
        this.#ordinal += 1;
        return { nodeId, account, turn: this.#turn, ordinal: this.#ordinal };
      },
      signal,
    });
  }

  async #delegate(task: Task, signal: AbortSignal): Promise<unknown> {
    const { depth, account, id, tools } = this.#settings;
    const { settings } = this.#run;
    if (depth + 1 > settings.maxDepth) {
      if (settings.onLimit === "throw")
        this.#run.fail(new MaxDepthExceeded({ depth: depth + 1, limit: settings.maxDepth }));
      const material = task.context === null || task.context === undefined ? "" : `\n\n${toText(task.context)}`;
      const query = { prompt: `${task.task}${material}`, schema: task.schema };
      const [answer] = (await this.#query({ name: "llm_query", queries: [query] }, signal)) as Record<
        string,
        unknown
      >[];
      return { ...answer, degraded: true };
    }
    const child = this.#run.createNode({
      parentId: id,
      depth: depth + 1,
      query: task.task,
      context: toContext(task.context),
      schema: task.schema ?? undefined,
      tools: task.tools ? tools.pick(task.tools) : tools,
      model: settings.childModel,
      parent: account,
      grant: toGrant(task.budget),
      signal,
    });
    const { status, answer, data, why, stopReason } = await child.solve();
    const ok = status === "final" || (status === "partial" && answer !== null);
    return {
      ok,
      text: answer ?? "",
      data: data ?? null,
      error: why,
      kind: ok ? null : stopReason,
      truncated: status === "partial",
    };
  }
}

/** Whether Python could compile it. The session does nothing else meanwhile. */
async function parses(session: Session, code: string): Promise<boolean> {
  const { value } = await session.execute(`rlm_session.parses(${JSON.stringify(JSON.stringify(code))})`).result;
  return value?.["text/plain"] === "True";
}

function toText(context: unknown): string {
  return typeof context === "string" ? context : JSON.stringify(context);
}

function toContext(context: unknown): ContextItem[] {
  if (context === null || context === undefined) return [];
  const text = toText(context);
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
