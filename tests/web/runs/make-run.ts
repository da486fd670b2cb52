// A recorded run of any size: an outline, and the events that it sums up. The same number gives the same run.

import type { OutlineNode, OutlineSpan, RecordedEvent, RunOutline } from "../../../web/src/state/runs/run-source.ts";

export interface MadeRun {
  readonly outline: RunOutline;
  readonly events: readonly RecordedEvent[];
}

type Draft<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] };

const START = Date.UTC(2026, 0, 12, 9, 30);
const TOPICS = ["billing", "delivery", "the harbour", "lanterns", "returns", "the summer catalogue", "late parcels"];
const CODE = `pieces = chunk(context, 16_000)
answers = llm_query_batched([f"Copy every line about lanterns.\\n\\n{piece}" for piece in pieces])
found = [line for answer in answers if answer.ok for line in answer.splitlines()]
print(len(pieces), "pieces read")`;

/** `nodes` in all, four levels deep; each has a few steps, with calls in batches. */
export function makeRun({ nodes: count, seed = 1 }: { readonly nodes: number; readonly seed?: number }): MadeRun {
  return new Maker(count, seed).make();
}

class Maker {
  readonly #count: number;
  readonly #nodes: Draft<OutlineNode>[] = [];
  readonly #spans: Draft<OutlineSpan>[] = [];
  readonly #events: RecordedEvent[] = [];
  #seed: number;
  #seq = 0;
  #calls = 0;

  constructor(count: number, seed: number) {
    this.#count = count;
    this.#seed = seed;
  }

  make(): MadeRun {
    const query = "Which ships brought lanterns to the harbour, and how many did each of them bring in all?";
    this.#event("run-start", START, { query });
    const endedAt = this.#node(null, null, 0, START, query);
    const seq = this.#event("run-end", endedAt, {
      result: {
        status: "final",
        stopReason: "answered",
        answer: "Brigid: 40 lanterns; Corvus: 75 lanterns",
        why: null,
      },
    });
    // In the order in which they began, as a record has them.
    const spans = this.#spans.toSorted((a, b) => a.startedAt - b.startedAt);
    const nodes = this.#nodes.toSorted((a, b) => a.startedAt - b.startedAt || a.depth - b.depth);
    const outline: RunOutline = {
      runId: "r-made" as RunOutline["runId"],
      seq,
      query,
      model: "large",
      subModel: "small",
      limits: { llmCalls: 40_000, wallMs: 7_200_000, tokens: 60_000_000 },
      maxDepth: 4,
      startedAt: START,
      endedAt,
      nodes,
      spans,
      marks: [
        {
          kind: "limit-warning",
          seq: seq - 1,
          nodeId: "n0",
          time: START + (endedAt - START) * 0.8,
          axis: "tokens",
          used: 48_000_000,
          limit: 60_000_000,
        },
      ],
      omitted: 0,
      lostLines: 0,
    };
    return { outline, events: this.#events };
  }

  #random(): number {
    this.#seed = (this.#seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return this.#seed / 4_294_967_296;
  }

  #between(from: number, to: number): number {
    return from + this.#random() * (to - from);
  }

  #event(type: string, time: number, fields: Readonly<Record<string, unknown>>): number {
    this.#seq += 1;
    this.#events.push({ type, seq: this.#seq, runId: "r-made", time, ...fields });
    return this.#seq;
  }

  /** Returns when it ended. */
  #node(
    parent: OutlineNode | null,
    batch: OutlineNode["batch"] | null,
    step: number,
    startedAt: number,
    query: string,
  ): number {
    const id = `n${this.#nodes.length}`;
    const depth = parent === null ? 0 : parent.depth + 1;
    const node: Draft<OutlineNode> = {
      id,
      parentId: parent?.id ?? null,
      parentStep: parent === null ? null : step,
      depth,
      query,
      model: depth < 2 ? "large" : "medium",
      isDegraded: false,
      ...(batch !== null && batch !== undefined && { batch }),
      startedAt,
      endedAt: null,
      status: null,
      stopReason: null,
      answer: null,
      steps: 0,
      firstSeq: this.#event("node-start", startedAt, {
        nodeId: id,
        query,
        context: [{ name: "context", kind: "text", bytes: Math.round(this.#between(2_000, 900_000)) }],
      }),
      lastSeq: 0,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: 0,
      llmCalls: 0,
      toolCalls: 0,
    };
    this.#nodes.push(node);
    const steps = depth === 0 ? Math.max(3, Math.ceil(this.#count / 60)) : Math.round(this.#between(2, 4));
    let time = startedAt + 20;
    for (let number = 1; number <= steps; number += 1) time = this.#step(node, number, time, number === steps);
    const isOk = this.#random() > 0.03;
    node.endedAt = time;
    node.status = isOk ? "final" : "failed";
    node.stopReason = isOk ? "answered" : "error";
    node.answer = isOk ? `${Math.round(this.#between(3, 90))} lines are about it` : null;
    node.lastSeq = this.#event("node-end", time, { nodeId: id, status: node.status, answer: node.answer });
    return time;
  }

  #step(node: Draft<OutlineNode>, step: number, startedAt: number, isLast: boolean): number {
    node.steps = step;
    const reply = isLast
      ? "I have what I need.\n\n```repl\nFINAL(answer)\n```"
      : `I look at part ${step}.\n\n\`\`\`repl\n${CODE}\n\`\`\``;
    const called = this.#call(node, step, startedAt, "step", reply);
    const code: Draft<OutlineSpan> = {
      ...called.span,
      kind: "code",
      seq: this.#event("code-start", called.endedAt, { nodeId: node.id, step, code: isLast ? "FINAL(answer)" : CODE }),
      endSeq: null,
      callId: null,
      startedAt: called.endedAt,
      endedAt: null,
      name: isLast ? "FINAL(answer)" : "pieces = chunk(context, 16_000)",
      purpose: null,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: null,
      waits: [],
      isCut: false,
    };
    this.#spans.push(code);
    const end = isLast ? called.endedAt + this.#between(2, 9) : this.#subCalls(node, step, called.endedAt + 15);
    const isOk = this.#random() > 0.04;
    code.endedAt = end;
    code.ok = isOk;
    code.head = isOk ? "12 pieces read" : "ValueError: not a number: 'none'";
    code.endSeq = this.#event("code-end", end, {
      nodeId: node.id,
      step,
      result: {
        status: isOk ? "ok" : "error",
        stdout: isLast ? "" : `12 pieces read\n${"Day 212: the Corvus, 40 lanterns\n".repeat(12)}`,
        stderr: step % 5 === 0 ? "UserWarning: a piece is empty\n" : "",
        state: "kept",
        ...(!isOk && {
          error: {
            name: "ValueError",
            value: "not a number: 'none'",
            traceback:
              "Traceback (most recent call last):\n  File \"<block 3>\", line 3, in <module>\n    int(line)\nValueError: not a number: 'none'",
          },
        }),
      },
    });
    this.#event("step-end", end, { nodeId: node.id, step, observation: "Output of block 1:\n12 pieces read" });
    return end + 5;
  }

  #subCalls(node: OutlineNode, step: number, startedAt: number): number {
    let end = startedAt + this.#between(20, 400);
    const room = this.#count - this.#nodes.length;
    const wantsNodes = node.depth < 3 && room > 0 && this.#random() < (node.depth === 0 ? 0.95 : 0.45);
    if (wantsNodes) {
      const size = Math.min(room, Math.round(this.#between(2, node.depth === 0 ? 16 : 8)));
      for (let ordinal = 1; ordinal <= size && this.#nodes.length < this.#count; ordinal += 1) {
        const topic = TOPICS[Math.floor(this.#random() * TOPICS.length)] ?? "";
        const batch = { id: `b${step}`, ordinal, size };
        end = Math.max(
          end,
          this.#node(node, batch, step, startedAt + ordinal * 4, `Find what is said about ${topic} in part ${ordinal}`),
        );
      }
      return end + 20;
    }
    const size = Math.round(this.#between(2, 7));
    for (let ordinal = 1; ordinal <= size; ordinal += 1) {
      const called = this.#call(
        node,
        step,
        startedAt + ordinal,
        "query",
        "Day 212: from the Corvus they carried 40 lanterns ashore.",
        {
          id: `q${step}`,
          ordinal,
          size,
        },
      );
      end = Math.max(end, called.endedAt);
    }
    return end + 10;
  }

  #call(
    node: Draft<OutlineNode>,
    step: number,
    startedAt: number,
    purpose: "step" | "query",
    reply: string,
    batch?: OutlineSpan["batch"],
  ): { readonly endedAt: number; readonly span: OutlineSpan } {
    this.#calls += 1;
    const callId = `c${this.#calls}`;
    const inputTokens = Math.round(this.#between(400, 4_000));
    const outputTokens = Math.round(this.#between(20, 400));
    const delayMs = this.#random() < 0.06 ? Math.round(this.#between(500, 4_000)) : 0;
    const endedAt = startedAt + this.#between(300, 3_000) + delayMs;
    const ok = this.#random() > 0.01;
    const seq = this.#event("model-call-start", startedAt, {
      nodeId: node.id,
      callId,
      purpose,
      step,
      messages: [
        { role: "system", content: "You answer a question with the help of a Python session." },
        { role: "user", content: node.query },
      ],
    });
    const span: OutlineSpan = {
      kind: "model",
      nodeId: node.id,
      step,
      seq,
      endSeq: this.#event("model-call-end", endedAt, {
        nodeId: node.id,
        callId,
        ok,
        text: ok ? reply : "",
        reasoning: purpose === "step" ? "The context is long, so I read it in pieces." : "",
        finishReason: "stop",
        usage: { inputTokens, outputTokens, reasoningTokens: 12 },
        error: ok ? null : "429: too many requests",
      }),
      callId,
      startedAt,
      endedAt,
      ok,
      name: purpose === "step" ? node.model : "small",
      head: ok ? reply.slice(0, 160) : "429: too many requests",
      purpose,
      ...(batch !== undefined && { batch }),
      inputTokens,
      outputTokens,
      costUsd: Math.round(inputTokens * 1.5 + outputTokens * 6) / 1_000_000,
      isCached: this.#random() < 0.05,
      isCut: purpose === "step",
      waits: delayMs > 0 ? [{ at: startedAt + 100, delayMs, fault: "rate-limit" }] : [],
    };
    this.#spans.push(span);
    node.inputTokens += inputTokens;
    node.outputTokens += outputTokens;
    node.llmCalls += 1;
    return { endedAt, span };
  }
}
