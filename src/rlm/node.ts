// One model with its session inside a run: it replies, its code is run, it is shown what came of it, until it gives the answer.
//
// A node never throws because of what its model or its code did. Limits end it with the best answer that there is.

import type { ChatMessage } from "../backends/backend.ts";
import { BackendConnectionError } from "../errors.ts";
import type { LedgerLimits, NodeId, RunStatus, StopReason } from "../protocol/runs.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { JSONSchema } from "./reply/answer-schema.ts";
import { describeBudget } from "./ledger/budget.ts";
import type { ContextItem } from "./context/context.ts";
import { extractions, shortestExtraction } from "./reply/extract.ts";
import { CodeScanner } from "./reply/code-block.ts";
import { FinalAnswer } from "./reply/answer.ts";
import { findFinal } from "./reply/final-call.ts";
import type { Account } from "./ledger/ledger.ts";
import { LimitReached, toLimit } from "./ledger/limit-reached.ts";
import type { Ask, Reply } from "./calls/model-calls.ts";
import { NodeCalls } from "./calls/node-calls.ts";
import { NodeSession } from "./session/node-session.ts";
import * as prompts from "./prompts.ts";
import type { Run } from "./run.ts";
import { TimeLimit } from "./ledger/time-limit.ts";

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
  /** What this node may use of its run. Undefined: all of it. */
  readonly grant: LedgerLimits | undefined;
  readonly signal: AbortSignal;
}

export interface NodeOutcome {
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  readonly answer: string | null;
  readonly data?: unknown;
  readonly why: string | null;
}

/** So many replies without a word in a row are the model's silence, and no accident. */
const MAX_EMPTY = 3;

export class Node {
  readonly #run: Run;
  readonly #settings: NodeSettings;
  readonly #messages: ChatMessage[] = [];
  readonly #final: FinalAnswer;
  readonly #calls: NodeCalls;
  readonly #finishingSignal: AbortSignal;
  readonly #time: TimeLimit | undefined;
  #turn = 0;
  /** Of the calls in this turn. */
  #ordinal = 0;
  #empty = 0;

  /** Its time runs from here on. Throws a RangeError for a schema that is none. */
  constructor(run: Run, given: NodeSettings) {
    const { id, grant, parentId, schema } = given;
    this.#final = new FinalAnswer(schema, { patterns: parentId === null && run.settings.patterns }); // that of a child comes from code
    const time = grant?.wallMs === undefined ? undefined : new TimeLimit(id, grant.wallMs);
    const signal = time === undefined ? given.signal : AbortSignal.any([given.signal, time.work]);
    const settings = { ...given, signal };
    this.#run = run;
    this.#settings = settings;
    this.#time = time;
    const { finishingSignal } = run;
    this.#finishingSignal = time === undefined ? finishingSignal : AbortSignal.any([finishingSignal, time.finishing]);
    this.#calls = new NodeCalls(run, settings, { next: () => this.#nextPlace() }, this.#final);
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
    const outcome = await this.#solve().catch((error: unknown) => this.#giveUp(error));
    this.#time?.stop();
    const { status, stopReason, answer } = outcome;
    this.#run.teller.tell({ type: "node-end", nodeId, status, stopReason, answer, usage: account.spent() });
    return outcome;
  }

  async #solve(): Promise<NodeOutcome> {
    const { tools, context, signal } = this.#settings;
    const { cellTimeoutMs } = this.#run.settings;
    const opened = await this.#run.openSession((call) => this.#calls.answer(call));
    const session = new NodeSession(opened, { tools: tools.listings(), context, cellTimeoutMs, signal });
    try {
      await this.#begin(session);
      for (;;) {
        this.#countTurn();
        const outcome = await this.#step(session);
        if (outcome !== undefined) return outcome;
      }
    } finally {
      session.discard();
      await this.#calls.close();
    }
  }

  async #begin(session: NodeSession): Promise<void> {
    const { query, schema, tools, depth, model, account } = this.#settings;
    account.keepForFinishing(await this.#run.calls.worstOf(model, shortestExtraction({ query, schema })));
    const facts = {
      context: await session.prepare(),
      tools: tools.listings(),
      canRecurse: depth < this.#run.settings.maxDepth,
      schema,
    };
    this.#messages.push(
      { role: "system", content: prompts.systemPrompt(facts) },
      { role: "user", content: prompts.firstMessage(query, facts) },
    );
  }

  #countTurn(): void {
    const { signal, id, account } = this.#settings;
    const { maxIterations } = this.#run.settings;
    signal.throwIfAborted();
    if (this.#turn >= maxIterations) throw toLimit("iterations", id, this.#turn, maxIterations);
    account.countIteration();
    this.#turn += 1;
    this.#ordinal = 0;
  }

  /** One reply and what it causes. Undefined: it goes on. */
  async #step(session: NodeSession): Promise<NodeOutcome | undefined> {
    const { id: nodeId } = this.#settings;
    this.#run.teller.tell({ type: "step-start", nodeId, turn: this.#turn });
    const scan = (): CodeScanner => new CodeScanner((code) => session.parses(code));
    let scanner = scan();
    const reply = await this.#reply({
      onText: (text) => scanner.push(text) !== undefined,
      onRetry: () => {
        scanner = scan();
      },
    });
    const scanned = await scanner.end(reply.finishReason);
    const content = scanned.kind === "code" ? reply.text.slice(0, scanned.block.end) : reply.text;
    this.#messages.push({ role: "assistant", content: content.trimEnd() || "(nothing)" });
    const happened =
      scanned.kind === "code"
        ? await this.#runCode(session, scanned.block.code)
        : await this.#read(session, reply.text, scanned.tell);
    return this.#conclude(happened);
  }

  /** A model that says nothing, however often it is asked, is told so as one that wrote no code. */
  async #reply(listener: Pick<Ask, "onText" | "onRetry">): Promise<Pick<Reply, "text" | "finishReason">> {
    const { signal, model, account } = this.#settings;
    try {
      const messages = [...this.#messages];
      const call = { purpose: "turn", model, account, messages, signal, ...this.#where(), ...listener } as const;
      const reply = await this.#run.calls.ask(call);
      this.#empty = 0;
      return reply;
    } catch (error) {
      this.#empty += 1;
      const isEmpty = error instanceof BackendConnectionError && error.fault === "empty";
      if (!isEmpty || this.#empty >= MAX_EMPTY) throw error;
      return { text: "", finishReason: "stop" };
    }
  }

  /** A reply without code: an answer in its text, or nothing that could be done. */
  async #read(session: NodeSession, text: string, told: string): Promise<string> {
    const final = findFinal(text);
    if (final.kind === "none") return final.hint ?? told;
    if (final.kind === "variable") return session.giveVariable(final.name);
    this.#final.give({ text: final.text, data: final.text });
    return "";
  }

  /** The end of a step: the answer is accepted, given back, or there is none and the model is told what happened. */
  #conclude(happened: string): NodeOutcome | undefined {
    const { id: nodeId, account } = this.#settings;
    const turn = this.#turn;
    const verdict = this.#final.take();
    const told = verdict.kind === "given-back" ? prompts.schemaMessage(verdict.problem) : happened;
    this.#run.teller.tell({ type: "step-end", nodeId, turn, told });
    if (verdict.kind === "accepted") return verdict.outcome;
    const left = describeBudget(account, this.#run.settings.maxIterations - turn);
    this.#messages.push({ role: "user", content: `${told}\n\n${left}` });
    return undefined;
  }

  async #runCode(session: NodeSession, code: string): Promise<string> {
    const { id: nodeId } = this.#settings;
    const turn = this.#turn;
    this.#run.teller.tell({ type: "code-start", nodeId, turn, code });
    const { result, told } = await session.run(code, turn, (stream, text) =>
      this.#run.teller.tell({ type: "output-delta", nodeId, turn, stream, text }),
    );
    const { displays: _, ...recorded } = result;
    this.#run.teller.tell({ type: "code-end", nodeId, turn, result: recorded });
    return told;
  }

  async #giveUp(error: unknown): Promise<NodeOutcome> {
    const { signal } = this.#settings;
    const limit: unknown = signal.aborted ? signal.reason : error;
    if (limit instanceof LimitReached) return this.#extract(limit.axis, limit.message);
    if (signal.aborted) return { status: "cancelled", stopReason: "cancelled", answer: null, why: "it was cancelled" };
    const why = error instanceof Error ? error.message : String(error);
    const isTooLong = error instanceof BackendConnectionError && error.fault === "context-too-long";
    if (isTooLong) return this.#extract("error", "the conversation is longer than the model's window");
    return { status: "failed", stopReason: "error", answer: null, why };
  }

  /** The best answer that can be had from what was seen, with what was kept for that. */
  async #extract(stopReason: StopReason, why: string): Promise<NodeOutcome> {
    const { account, model, query, schema } = this.#settings;
    const signal = this.#finishingSignal;
    const candidates = [...extractions({ query, schema, messages: this.#messages }, why)];
    try {
      const messages = await this.#run.calls.firstAffordable(
        model,
        account,
        candidates,
        stopReason === "error" ? 1 : 0,
      );
      const call = { purpose: "extract", model, account, messages, signal, ...this.#where() } as const;
      const { text } = await this.#run.calls.ask(call);
      const final = findFinal(text);
      const answer = (final.kind === "value" ? final.text : text).trim();
      if (answer === "") return { status: "failed", stopReason, answer: null, why };
      return { status: "partial", stopReason, answer, why, ...this.#final.read(answer) };
    } catch (error) {
      return { status: "failed", stopReason, answer: null, why: `${why}; ${(error as Error).message}` };
    }
  }

  #where(): Pick<Ask, "nodeId" | "turn" | "ordinal"> {
    return { nodeId: this.#settings.id, ...this.#nextPlace() };
  }

  #nextPlace(): { readonly turn: number; readonly ordinal: number } {
    this.#ordinal += 1;
    return { turn: this.#turn, ordinal: this.#ordinal };
  }
}
