// One model with its session inside a run. Step by step the model replies, its code is run, and it is shown the result, until it answers.
//
// A node never throws because of what its model or its code did. At a limit it ends with the best answer that it can give.

import type { OutputStream } from "../protocol/execution.ts";
import type { Strategy } from "../protocol/strategy/strategy.ts";
import { HostCalls } from "./calls/host-calls.ts";
import type { CallPosition, ModelCall } from "./calls/model-calls.ts";
import { Compactor, type Compaction } from "./compaction/compactor.ts";
import { Conversation } from "./compaction/conversation.ts";
import { endingOf, faultOf } from "./extraction/ending-of.ts";
import { extract } from "./extraction/extract.ts";
import { shortestExtraction } from "./extraction/extraction-messages.ts";
import { NoProgress } from "./extraction/no-progress.ts";
import { LookBeforeAnswer } from "./guards/look-before-answer.ts";
import { describeBudget } from "./ledger/budget.ts";
import { toExhausted } from "./ledger/limit-reached.ts";
import { TimeLimit } from "./ledger/time-limit.ts";
import { BlockNotes } from "./notes/block-notes.ts";
import { toHostLine } from "./notes/host-line.ts";
import { Answer } from "./reply/answer.ts";
import { FruitlessReplies, type FruitlessEnd } from "./reply/fruitless-replies.ts";
import { ReplyReader, type Reading, type ReplyTexts } from "./reply/reply-reader.ts";
import { TextFinals } from "./reply/text-finals.ts";
import { reportNode, type NodeOutcome, type NodeSettings, type RunContext } from "./run-context.ts";
import { PrintOrder } from "./session/print-order.ts";
import { NodeSession } from "./session/node-session.ts";
import { fitWindow } from "./strategy/fit-window.ts";
import * as prompts from "./strategy/prompts.ts";

type DirectAnswer = (node: {
  readonly account: NodeSettings["account"];
  readonly nextPosition: () => CallPosition;
}) => Promise<NodeOutcome | undefined>;

/** What belongs to the session of a node. */
interface NodeParts {
  readonly session: NodeSession;
  readonly guard: LookBeforeAnswer;
  readonly compactor: Compactor;
}

export class Node {
  readonly #run: RunContext;
  readonly #settings: NodeSettings;
  readonly #strategy: Strategy;
  readonly #conversation = new Conversation();
  readonly #answer: Answer;
  readonly #hostCalls: HostCalls;
  readonly #textFinals = new TextFinals();
  readonly #fruitless: FruitlessReplies;
  readonly #notes: BlockNotes;
  readonly #finishingSignal: AbortSignal;
  readonly #timeLimit: TimeLimit | undefined;
  #step = 0;
  /** Counts the model calls of this step. Those before the first step belong to it. */
  #ordinal = 0;
  #emptyReplies = 0;
  /** The block of this step. */
  #code: string | undefined;
  #isStuck = false;
  /** Code has run. */
  #hasSeen = false;

  /** The time limit of its grant starts here. Throws a RangeError for an invalid schema. */
  constructor(run: RunContext, options: NodeSettings) {
    const { id, grant, parentId, schema, model } = options;
    this.#strategy = run.settings.strategyOf(model);
    this.#fruitless = new FruitlessReplies(this.#strategy.guards);
    this.#notes = new BlockNotes(this.#strategy);
    const { corrections } = this.#strategy.calls;
    // The schema of a child comes from code, and so may its regular expressions.
    this.#answer = new Answer(schema, { patterns: parentId === null && run.settings.patterns, corrections });
    const timeLimit = grant?.wallMs === undefined ? undefined : new TimeLimit(id, grant.wallMs, run.clock);
    const signal = timeLimit === undefined ? options.signal : AbortSignal.any([options.signal, timeLimit.work]);
    const settings = { ...options, signal };
    this.#run = run;
    this.#settings = settings;
    this.#timeLimit = timeLimit;
    const { finishingSignal } = run;
    this.#finishingSignal =
      timeLimit === undefined ? finishingSignal : AbortSignal.any([finishingSignal, timeLimit.finishing]);
    this.#hostCalls = new HostCalls(run, settings, this.#answer, () => this.#nextPosition());
  }

  /** `direct`: answers without a session. Undefined from it: it cannot, and the session takes over. */
  async solve(direct?: DirectAnswer): Promise<NodeOutcome> {
    return reportNode(this.#run, this.#settings, async () => {
      const { account } = this.#settings;
      const first = await direct?.({ account, nextPosition: () => this.#nextPosition() });
      const outcome = first ?? (await this.#solve().catch((error: unknown) => this.#finishAfter(error)));
      this.#timeLimit?.stop();
      return outcome;
    });
  }

  async #solve(): Promise<NodeOutcome> {
    const { tools, context, signal } = this.#settings;
    const { cellTimeoutMs } = this.#run.settings;
    const opened = await this.#run.openSession((call) => this.#hostCalls.handle(call));
    const session = new NodeSession(opened, {
      tools: tools.listings(),
      strategy: this.#strategy,
      context,
      cellTimeoutMs,
      signal,
    });
    const guard = new LookBeforeAnswer(context, {
      isOn: this.#strategy.guards.lookBeforeAnswer,
      uses: (sources, names) => session.uses(sources, names),
    });
    const compactor = new Compactor(this.#conversation, {
      strategy: this.#strategy,
      session,
      factsOf: () => this.#run.modelCalls.factsOf(this.#settings.model),
      onCompaction: (compaction) => this.#report(compaction),
    });
    try {
      await this.#prepare(session);
      for (;;) {
        this.#countStep();
        const outcome = await this.#runStep({ session, guard, compactor });
        if (outcome !== undefined) return outcome;
        if (this.#isStuck) throw new NoProgress("the model repeats itself");
      }
    } finally {
      session.discard();
      await this.#hostCalls.close();
    }
  }

  async #prepare(session: NodeSession): Promise<void> {
    const { query, schema, tools, depth, model, account } = this.#settings;
    const { extractModel = model, strategyOf } = this.#run.settings;
    const strategy = this.#strategy;
    const last = { strategy: strategyOf(extractModel), query, schema };
    account.keepForFinishing(await this.#run.modelCalls.shortAnswerUsage(extractModel, shortestExtraction(last)));
    const described = await session.prepare(await this.#sizes());
    const facts = {
      tools: tools.listings(),
      canRecurse: depth < this.#run.settings.maxDepth,
      schema,
      models: this.#run.modelChoice.defined,
      question: depth === 0 ? undefined : this.#run.settings.query,
    };
    this.#conversation.begin(prompts.systemPrompt(strategy, facts), prompts.firstMessage(strategy, query, described));
  }

  /** How much the model is shown now: its window may become known only when a provider refuses. */
  async #sizes(): Promise<Strategy["observations"]> {
    const { contextWindow } = await this.#run.modelCalls.factsOf(this.#settings.model);
    return fitWindow(this.#strategy.observations, contextWindow);
  }

  #countStep(): void {
    const { signal, id, account } = this.#settings;
    const { maxIterations } = this.#run.settings;
    signal.throwIfAborted();
    if (this.#step >= maxIterations) throw toExhausted("iterations", id, this.#step, maxIterations);
    account.countIteration();
    this.#step += 1;
    if (this.#step > 1) this.#ordinal = 0;
    this.#code = undefined;
  }

  /** Undefined: there is no answer yet. */
  async #runStep({ session, guard, compactor }: NodeParts): Promise<NodeOutcome | undefined> {
    const { id: nodeId } = this.#settings;
    this.#run.events.emit({ type: "step-start", nodeId, step: this.#step });
    await compactor.beforeStep();
    const reader = new ReplyReader({
      isComplete: (code) => session.parses(code),
      readFinal: (source) => this.#textFinals.read(session, source),
    });
    const listeners = { onText: (text: string) => reader.push(text), onRestart: () => reader.restart() };
    const reply = await this.#reply(listeners).catch(async (error: unknown) => {
      if (faultOf(error) !== "context-too-long" || !(await compactor.afterRefusal())) throw error;
      return this.#reply(listeners);
    });
    const reading = await reader.end(reply);
    this.#conversation.addReply(this.#step, reading.kept.trimEnd() || "(nothing)");
    const outcome = await this.#endStep(await this.#follow(session, reading, guard), guard);
    const end = this.#fruitless.add(reading);
    return outcome ?? (end === undefined ? undefined : this.#giveUp(end));
  }

  /** What the model said is its answer. Throws where it said nothing. */
  #giveUp({ why, answer }: FruitlessEnd): NodeOutcome {
    if (answer === undefined) throw new NoProgress(why);
    return { status: "partial", stopReason: "error", answer, why, ...this.#answer.parse(answer) };
  }

  /** An empty reply counts as one without code, up to a number in a row. */
  async #reply(listeners: Pick<ModelCall, "onText" | "onRestart">): Promise<ReplyTexts> {
    const { id: nodeId, signal, model, account } = this.#settings;
    try {
      const { messages } = this.#conversation;
      const position = this.#nextPosition();
      const call = { purpose: "step", nodeId, model, account, messages, signal, ...position, ...listeners } as const;
      const reply = await this.#run.modelCalls.call(call);
      this.#emptyReplies = 0;
      return reply;
    } catch (error) {
      this.#emptyReplies += 1;
      if (faultOf(error) !== "empty" || this.#emptyReplies === this.#strategy.guards.emptyReplies) throw error;
      return { text: "", reasoning: "", finishReason: "stop" };
    }
  }

  /** Returns what the model is shown; an empty text where it answered. */
  async #follow(session: NodeSession, reading: Reading, guard: LookBeforeAnswer): Promise<string> {
    switch (reading.kind) {
      case "code":
        return this.#runCode(session, reading.code, guard);
      case "variable":
        guard.add(reading.name, 0);
        return session.submitVariable(reading.name);
      case "answer":
        this.#answer.submit({ text: reading.text, data: reading.text });
        return "";
      case "submitted":
        return "";
      case "nothing":
        return reading.hint;
    }
  }

  /** The answer is accepted, or the model is shown what happened and the next step begins. */
  async #endStep(happened: string, guard: LookBeforeAnswer): Promise<NodeOutcome | undefined> {
    const { id: nodeId, account } = this.#settings;
    const step = this.#step;
    const blocksLeft = this.#run.settings.maxIterations - step;
    const { prompts: texts } = this.#strategy;
    const review = this.#answer.review();
    const isSentBack = review.kind === "accepted" && blocksLeft > 0 && (await guard.sendsBack());
    const observation = isSentBack
      ? prompts.lookFirstMessage(texts, guard.variables)
      : review.kind === "rejected"
        ? prompts.rejectedMessage(texts, review.problem)
        : happened;
    this.#run.events.emit({ type: "step-end", nodeId, step, observation });
    if (review.kind === "accepted" && !isSentBack) return review.outcome;
    const left = describeBudget(account, blocksLeft);
    this.#conversation.endStep({ code: this.#code, observation, message: `${observation}\n\n${toHostLine(left)}` });
    return undefined;
  }

  async #runCode(session: NodeSession, code: string, guard: LookBeforeAnswer): Promise<string> {
    const { id: nodeId } = this.#settings;
    const step = this.#step;
    this.#code = code;
    this.#run.events.emit({ type: "code-start", nodeId, step, code });
    const printed = new PrintOrder();
    const onOutput = (stream: OutputStream, text: string): void => {
      printed.add(stream, text);
      this.#run.events.emit({ type: "output-delta", nodeId, step, stream, text });
    };
    const { result, observation } = await session.run(code, { step, sizes: await this.#sizes(), onOutput });
    const { displays: _, ...recorded } = result;
    const order = printed.of(result);
    this.#hasSeen = true;
    this.#run.events.emit({ type: "code-end", nodeId, step, result: recorded, ...(order && { order }) });
    const calls = this.#hostCalls.tally.take();
    guard.add(code, calls.total + calls.tools);
    const { lines, isStuck } = this.#notes.of({ step, code, result, calls });
    this.#isStuck = isStuck;
    return lines === "" ? observation : `${observation}\n${lines}`;
  }

  #report(compaction: Compaction): void {
    this.#run.events.emit({ type: "compaction", nodeId: this.#settings.id, step: this.#step, ...compaction });
  }

  async #finishAfter(error: unknown): Promise<NodeOutcome> {
    const ending = endingOf(error, { signal: this.#settings.signal, hasSeen: this.#hasSeen });
    if (ending.kind === "no-answer") return ending.outcome;
    const { stopReason, why, isRefused } = ending;
    return extract(this.#run, {
      node: this.#settings,
      messages: this.#conversation.messages,
      answer: this.#answer,
      nextPosition: () => this.#nextPosition(),
      signal: this.#finishingSignal,
      stopReason,
      why,
      isRefused,
    });
  }

  #nextPosition(): CallPosition {
    this.#ordinal += 1;
    return { step: Math.max(1, this.#step), ordinal: this.#ordinal };
  }
}
