// A recorded run of any size with the shape of real ones: batches of nodes up to four deep, batches of model calls, retries, cached and
// failed calls, limits, and long prompts and outputs.

import type { Batch } from "../../../src/protocol/run-events.ts";
import { NO_USAGE, type ModelUsage } from "../../../src/protocol/usage.ts";
import { randomHash, Recording, type Outcome } from "./recording.ts";
import { Texts } from "./texts.ts";

const MODEL = "large-1";
const SUB_MODEL = "small-1";
const MAX_DEPTH = 4;
/** Nodes of a batch that work at the same time. */
const LANES = 12;
/** What a node is given to read, of the bytes that it takes on disk. The rest is what it does with them. */
const PROMPT_SHARE = 0.5;
const SYSTEM = "You answer a question with the help of a Python session. The material is in variables there. ";

export interface LargeRunOptions {
  readonly id: string;
  /** How many nodes. */
  readonly nodes: number;
  /** About how many bytes the log takes on disk. */
  readonly bytes: number;
  /** Default: 1. */
  readonly seed?: number;
  readonly startedAt?: number;
  readonly query?: string;
  /** The step of the root from which on it goes differently from another run with the same seed. */
  readonly partsAtStep?: number;
  /** How it ends. Default: with an answer. */
  readonly outcome?: Outcome;
}

export function createLargeRun(options: LargeRunOptions): Recording {
  const {
    id,
    nodes,
    bytes,
    seed = 1,
    startedAt = Date.UTC(2026, 4, 4, 9),
    query = QUERY,
    outcome = ANSWERED,
  } = options;
  const limits = limitsFor(nodes);
  const settings = {
    query,
    model: MODEL,
    subModel: SUB_MODEL,
    childModel: MODEL,
    extractModel: null,
    limits,
    maxDepth: MAX_DEPTH,
    strategy: { name: "frontier", digest: "0123456789abcdef" },
  };
  const recording = new Recording(settings, { id, startedAt });
  const play = new Play(recording, new Texts(seed), (bytes / nodes) * PROMPT_SHARE, options);
  const end = play.node({ at: 1, parentId: null, depth: 0, share: nodes, query, batch: undefined });
  recording.end(end + 2, outcome);
  return recording;
}

/** As a careful caller would set them. */
function limitsFor(nodes: number) {
  return {
    tokens: Math.max(100_000, nodes * 14_000),
    llmCalls: Math.max(100, nodes * 15),
    costUsd: Math.max(2, nodes * 0.04),
    wallMs: nodes < 100 ? 600_000 : 3_600_000,
  };
}

const QUERY = "Which ships carried lanterns, and how many did each of them bring to the harbour in all these years?";
const ANSWER = "Aurora: 1,204 lanterns; Brigid: 987; Corvus: 2,310; Gannet: 41. The other ships carried none.";

const ANSWERED: Outcome = { status: "final", stopReason: "answered", answer: ANSWER, why: null };

interface NodePlan {
  readonly at: number;
  readonly parentId: string | null;
  readonly depth: number;
  /** Nodes in this branch, itself included. */
  readonly share: number;
  readonly query: string;
  readonly batch: Batch | undefined;
}

interface CallPlan {
  readonly nodeId: string;
  readonly step: number;
  readonly ordinal: number;
  readonly purpose: "step" | "query" | "direct";
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly text: string;
  readonly batch?: Batch;
}

class Play {
  readonly #recording: Recording;
  readonly #texts: Texts;
  readonly #nodeBytes: number;
  readonly #options: LargeRunOptions;

  constructor(recording: Recording, texts: Texts, nodeBytes: number, options: LargeRunOptions) {
    this.#recording = recording;
    this.#texts = texts;
    this.#nodeBytes = nodeBytes;
    this.#options = options;
  }

  /** Returns when it ends. */
  node({ at, parentId, depth, share, query, batch }: NodePlan): number {
    const [recording, texts] = [this.#recording, this.#texts];
    const nodeId = recording.nextNodeId();
    const context = [{ name: "context", kind: "text", bytes: texts.whole(20_000, 4_000_000) }];
    const isDegraded = depth === MAX_DEPTH && texts.isOnce(3);
    const model = isDegraded ? SUB_MODEL : MODEL;
    const start = { type: "node-start", nodeId, parentId, depth, query, model, context, isDegraded } as const;
    recording.add(at, { ...start, ...(batch !== undefined && { batch }) });
    const end = isDegraded ? this.#direct(nodeId, at, query) : this.#steps(nodeId, at, depth, share, query);
    const { status, stopReason, answer } = this.#outcome(depth);
    recording.add(end, { type: "node-end", nodeId, status, stopReason, answer, usage: recording.usageOf(nodeId) });
    return end;
  }

  #outcome(depth: number): Outcome {
    if (depth === 0) return this.#options.outcome ?? ANSWERED;
    if (this.#texts.isOnce(60)) return { status: "failed", stopReason: "error", answer: null, why: null };
    return { ...ANSWERED, answer: `Found ${this.#texts.whole(0, 400)} lanterns in this part of the log.` };
  }

  #direct(nodeId: string, at: number, query: string): number {
    const messages = [{ role: "user", content: `${query}\n\n${this.#texts.log(this.#nodeBytes / 2)}` }];
    return this.#call(at, { nodeId, step: 1, ordinal: 1, purpose: "direct", messages, text: this.#texts.log(400) });
  }

  #steps(nodeId: string, start: number, depth: number, share: number, query: string): number {
    const texts = this.#texts;
    const steps = depth === 0 ? 8 : texts.whole(2, 5);
    // The children are divided among the steps between the first and the last.
    const busy = share > 1 && depth < MAX_DEPTH ? Math.max(1, Math.min(steps - 2, share - 1)) : 0;
    const messages = [
      { role: "system", content: SYSTEM.repeat(20) },
      { role: "user", content: `${query}\n\nThe variable context begins:\n${texts.log(this.#nodeBytes / 10)}` },
    ];
    let at = start + texts.between(2, 20);
    let left = share - 1;
    for (let step = 1; step <= steps; step += 1) {
      const children = step > 1 && step <= busy + 1 ? Math.ceil(left / (busy + 2 - step)) : 0;
      left -= children;
      at = this.#step({ nodeId, step, isLast: step === steps, depth, children, messages }, at);
    }
    return at + 1;
  }

  #step(
    plan: {
      readonly nodeId: string;
      readonly step: number;
      readonly isLast: boolean;
      readonly depth: number;
      readonly children: number;
      readonly messages: { readonly role: string; readonly content: string }[];
    },
    start: number,
  ): number {
    const { nodeId, step, isLast, depth, children, messages } = plan;
    const [recording, texts] = [this.#recording, this.#texts];
    if (depth === 0 && step === this.#options.partsAtStep) texts.restart(step);
    recording.add(start, { type: "step-start", nodeId, step });
    const { thought, code: search } = texts.reply(step);
    const code = isLast ? 'FINAL(f"Found {total} lanterns in this part of the log.")' : children > 0 ? BATCHED : search;
    const text = `${thought}\n\n\`\`\`repl\n${code}\n\`\`\``;
    const asked = this.#call(start, { nodeId, step, ordinal: 1, purpose: "step", messages: [...messages], text });
    recording.add(asked, { type: "code-start", nodeId, step, code });
    let at = asked + texts.between(2, 80);
    if (children > 0) at = this.#children(nodeId, depth, children, at);
    else if (!isLast && texts.isOnce(3)) at = this.#queries(nodeId, step, at);
    const output = isLast ? "" : texts.log(texts.between(0.05, 0.25) * this.#nodeBytes);
    recording.add(at, { type: "code-end", nodeId, step, result: this.#result(output, at - asked, isLast, step) });
    const observation = `Output of block ${step}:\n${output.slice(0, 10_000)}`;
    recording.add(at, { type: "step-end", nodeId, step, observation });
    recording.spend(nodeId, MODEL, { iterations: 1 });
    messages.push({ role: "assistant", content: text }, { role: "user", content: observation });
    if (depth === 0 && step === 6) this.#limit(at, nodeId);
    return at + texts.between(0, 2);
  }

  /** Nodes that were asked for at once, on a few lanes. */
  #children(parentId: string, depth: number, share: number, start: number): number {
    const texts = this.#texts;
    // The deepest nodes have no children, so all that is left is theirs.
    const size = depth + 1 === MAX_DEPTH ? share : Math.min(share, texts.whole(2, depth === 0 ? 24 : 4));
    const lanes = Array.from({ length: Math.min(LANES, size) }, () => start);
    const id = `b${this.#recording.nodes}`;
    let left = share;
    for (let ordinal = 1; ordinal <= size; ordinal += 1) {
      const rest = size - ordinal;
      const own =
        rest === 0
          ? left
          : Math.max(1, Math.min(left - rest, Math.round((left / (rest + 1)) * texts.between(0.5, 1.5))));
      left -= own;
      const lane = lanes.indexOf(Math.min(...lanes));
      const query = `Read the pages from day ${ordinal * 400} to day ${ordinal * 400 + 399} and count the lanterns of each ship.`;
      const batch = size > 1 ? { id, ordinal, size } : undefined;
      lanes[lane] = this.node({ at: lanes[lane] ?? start, parentId, depth: depth + 1, share: own, query, batch });
    }
    return Math.max(...lanes) + texts.between(1, 10);
  }

  #queries(nodeId: string, step: number, start: number): number {
    const texts = this.#texts;
    const size = texts.whole(2, 6);
    const id = `b${step}`;
    const ends = Array.from({ length: size }, (_, index) => {
      const content = `Copy every line about lanterns, or say none.\n\n${texts.log((this.#nodeBytes / 4) * texts.between(0.5, 1.5))}`;
      const batch = { id, ordinal: index + 1, size };
      const messages = [{ role: "user", content }];
      return this.#call(start, {
        nodeId,
        step,
        ordinal: index + 2,
        purpose: "query",
        messages,
        text: texts.log(300),
        batch,
      });
    });
    return Math.max(...ends) + 1;
  }

  /** Returns when it has answered. */
  #call(start: number, { text, batch, ...plan }: CallPlan): number {
    const [recording, texts] = [this.#recording, this.#texts];
    const { nodeId, purpose } = plan;
    const callId = recording.nextCallId();
    const model = purpose === "step" ? MODEL : SUB_MODEL;
    const request = { backend: "openai", model, requestHash: randomHash(), ...(batch !== undefined && { batch }) };
    recording.add(start, { type: "model-call-start", callId, ...plan, ...request, messages: [...plan.messages] });
    const isCached = texts.isOnce(25);
    const isFailed = purpose === "query" && texts.isOnce(80);
    let at = start;
    if (!isCached && texts.isOnce(30)) {
      const delayMs = texts.whole(800, 12_000);
      const [fault, error] = texts.pick([
        ["rate-limit", "429: too many requests"],
        ["server", "529: overloaded"],
      ]);
      recording.add((at += 300), { type: "model-call-wait", nodeId, callId, fault, delayMs, attempts: 1, error });
      at += delayMs;
    }
    at += isCached ? 1 : texts.between(700, purpose === "step" ? 9_000 : 3_500);
    const usage =
      isCached || isFailed ? { ...NO_USAGE, cachedCalls: isCached ? 1 : 0 } : usageOf(plan.messages, text, model);
    recording.spend(nodeId, model, usage);
    recording.add(at, {
      type: "model-call-end",
      nodeId,
      callId,
      ok: !isFailed,
      text: isFailed ? "" : text,
      reasoning: purpose === "step" && texts.isOnce(3) ? texts.log(1_500) : "",
      finishReason: isFailed ? "other" : "stop",
      isCached,
      isCut: purpose === "step" && texts.isOnce(2),
      usage,
      error: isFailed ? "Cannot reach openai: the connection was reset" : null,
      durationMs: at - start,
    });
    return at;
  }

  #result(stdout: string, durationMs: number, isFinal: boolean, step: number) {
    const texts = this.#texts;
    const common = {
      stdout,
      stderr: texts.isOnce(6) ? "warning: 3 lines could not be parsed\n" : "",
      state: "kept" as const,
      truncated: null,
      sessionId: "s1" as never,
      executionId: `s1.${step}` as never,
      executionCount: step,
      epoch: 1,
      durationMs,
      usage: { cpuMs: texts.between(1, 40), peakMemoryBytes: texts.whole(20_000_000, 90_000_000) },
    };
    if (isFinal)
      return {
        status: "error" as const,
        error: { name: "Final", value: "", traceback: "rlm_session.Final\n" },
        ...common,
      };
    if (!texts.isOnce(12)) return { status: "ok" as const, ...common };
    const traceback =
      'Traceback (most recent call last):\n  File "<block 3>", line 2, in <module>\n    rows[0]\nIndexError: list index out of range\n';
    return {
      status: "error" as const,
      error: { name: "IndexError", value: "list index out of range", traceback },
      ...common,
    };
  }

  #limit(at: number, nodeId: string): void {
    const limit = limitsFor(this.#options.nodes).tokens;
    this.#recording.add(at, { type: "limit-warning", nodeId, axis: "tokens", used: Math.ceil(limit * 0.8), limit });
  }
}

const BATCHED = `pieces = chunk(context, 40_000)
answers = rlm_query_batched(
    [f"Read the pages from day {n * 400} to day {n * 400 + 399} and count the lanterns of each ship." for n in range(len(pieces))],
    pieces,
)
print([answer for answer in answers if answer.ok])`;

function usageOf(messages: CallPlan["messages"], text: string, model: string): ModelUsage {
  const inputTokens = Math.ceil(messages.reduce((sum, { content }) => sum + content.length, 0) / 4);
  const outputTokens = Math.ceil(text.length / 4);
  const [input, output] = model === MODEL ? [2.5, 10] : [0.25, 2];
  const costUsd = Math.round(inputTokens * input * 1_000 + outputTokens * output * 1_000) / 1e9;
  return { ...NO_USAGE, inputTokens, outputTokens, tokens: inputTokens + outputTokens, costUsd, llmCalls: 1 };
}
