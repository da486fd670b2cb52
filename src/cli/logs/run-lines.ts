// Renders the events of a run for people: a few lines per event, indented by depth.

import type { OutputStream } from "../../protocol/execution.ts";
import type { Batch, ModelCallEnd, ModelCallStart, PrintedPart, RunEvent } from "../../protocol/run-events.ts";
import type { ModelUsage } from "../../protocol/usage.ts";
import type { Colour, Palette } from "../io/palette.ts";
import { formatCost, formatCount, formatDuration, formatSize } from "../../util/text/format.ts";
import { describeCompaction } from "../../util/text/runs/describe-compaction.ts";
import { describeLimit } from "../../util/text/runs/limit-names.ts";
import { describeWait } from "../../util/text/runs/describe-wait.ts";
import { truncateToWidth } from "../../util/text/text-width.ts";
import { toBlock, toLine } from "../io/text-block.ts";
import { ROLE_NAMES, ROLES } from "./role-names.ts";

const STEP = 4;
/** Deeper nodes are not indented further. */
const MAX_DEPTH = 10;
/** The most open calls that are remembered. */
const MAX_OPEN = 100_000;
const ANSWER_LINES = 4;
/** Where the width of the terminal is not known. */
const COLUMNS = 120;
const MIN_ONE_LINE = 20;
const MAX_ONE_LINE = 1000;

type Of<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
type Messages = ModelCallStart["messages"];

/** What a model is asked. */
export interface Asked {
  /** The messages that a call adds to the conversation. */
  readonly added?: Messages;
  /** The beginning of what code asks. */
  readonly prompt?: string;
}

interface Open<Start> {
  readonly start: Start;
  readonly prompt: string;
}

export class RunLines {
  readonly #palette: Palette;
  readonly #isFull: boolean;
  readonly #depths = new Map<string, number>();
  readonly #calls = new Map<string, Open<ModelCallStart | Of<"tool-call-start">>>();
  readonly #columns: number;
  /** The node and the reason of the wait that was shown last. Empty: something else was shown since. */
  #lastWait = "";

  /** `isFull`: shows every text whole, and the messages to the model. `columns`: the width of one-line prompts and answers. */
  constructor(
    palette: Palette,
    { isFull, columns = COLUMNS }: { readonly isFull: boolean; readonly columns?: number },
  ) {
    this.#palette = palette;
    this.#isFull = isFull;
    this.#columns = columns;
  }

  /** Ends with a newline, or is empty. */
  show(event: RunEvent, asked: Asked = {}): string {
    const text = this.#show(event, asked);
    if (text !== "" && event.type !== "model-call-wait") this.#lastWait = "";
    return text;
  }

  #show(event: RunEvent, { added = [], prompt = "" }: Asked): string {
    switch (event.type) {
      case "node-start":
        return this.#nodeStart(event);
      case "model-call-start":
        this.#open(event, prompt);
        return this.#isFull ? this.#messages(event, added) : "";
      case "tool-call-start":
        this.#open(event);
        return "";
      case "model-call-wait":
        return this.#wait(event);
      case "model-call-end":
        return this.#modelCall(event);
      case "tool-call-end":
        return this.#toolCall(event);
      case "code-start":
        return this.#line(event.nodeId, `${event.nodeId} code`) + this.#block(event.nodeId, event.code);
      case "code-end":
        return this.#code(event);
      case "step-end":
        return this.#isFull && event.observation !== ""
          ? this.#line(event.nodeId, `${event.nodeId} observation`, "quiet") +
              this.#block(event.nodeId, event.observation)
          : "";
      case "compaction":
        return this.#line(event.nodeId, `${event.nodeId} compaction  ${describeCompaction(event)}`, "quiet");
      case "limit-warning":
      case "limit-reached":
        return this.#limit(event);
      case "node-end":
        return this.#nodeEnd(event);
      case "run-end":
        return this.#runEnd(event);
      case "run-start":
        return this.#isFull ? this.#strategy(event) : "";
      case "step-start":
      case "model-call-delta":
      case "output-delta":
      case "event-gap":
        return "";
    }
  }

  #strategy({ strategy }: Of<"run-start">): string {
    return this.#line("n0", `strategy  ${strategy.name} ${strategy.digest}`, "quiet", 0);
  }

  #nodeStart({ nodeId, depth, query, model, context, isDegraded }: Of<"node-start">): string {
    this.#depths.set(nodeId, Math.min(MAX_DEPTH, Math.max(0, depth)));
    const note = isDegraded ? "  too deep for a session: one call" : "";
    const variables = context.map(({ name, kind, bytes, files }) => {
      const what = files === undefined ? kind : formatCount(files, "file");
      return `${name}: ${what}, ${formatSize(bytes)}`;
    });
    return (
      this.#line(nodeId, `${nodeId}  ${model}${note}`, "prompt", 0) +
      this.#block(nodeId, query, { indent: 2, lines: ANSWER_LINES }) +
      (variables.length === 0 ? "" : this.#line(nodeId, `${nodeId} context  ${variables.join("; ")}`, "quiet"))
    );
  }

  #messages({ nodeId, model, batch }: ModelCallStart, added: Messages): string {
    return added
      .map(({ role, content }) => {
        const line = this.#line(nodeId, `${nodeId} ${role} to ${model}${toPosition(batch, ", ")}`);
        return line + this.#block(nodeId, content);
      })
      .join("");
  }

  /** Calls of a batch that wait for the same reason take one line, unless all is shown. */
  #wait(event: Of<"model-call-wait">): string {
    const { nodeId, fault, error } = event;
    const wait = `${nodeId} ${fault}`;
    if (!this.#isFull && wait === this.#lastWait) return "";
    this.#lastWait = wait;
    const line = this.#line(nodeId, `${nodeId} wait  ${describeWait(event)}`, "quiet");
    return this.#isFull ? line + this.#block(nodeId, error ?? "") : line;
  }

  #modelCall(event: ModelCallEnd): string {
    const opened = this.#close(event.callId, "model-call-start");
    const start = opened?.start;
    const name = start?.purpose === "step" ? `step ${start.step}` : (start?.purpose ?? "call");
    const what = `${name}${toPosition(start?.batch, " ")}`;
    const facts = [
      ...(event.isCached ? ["from the cache"] : [toTokens(event.usage), formatCost(event.usage.costUsd)]),
      formatDuration(event.durationMs),
      ...(["stop", ""].includes(event.finishReason) || event.isCut ? [] : [event.finishReason]),
    ];
    const { nodeId } = event;
    const line = `${nodeId} ${what}  ${start?.model ?? ""}  ${facts.join(", ")}`;
    const prompt = this.#isFull ? "" : this.#oneLine(nodeId, "prompt", opened?.prompt ?? "");
    if (!event.ok) return this.#line(nodeId, `${line}, failed: ${event.error ?? "no reason given"}`, "error") + prompt;
    if (!this.#isFull && start?.purpose === "query")
      return this.#line(nodeId, line, "strong") + prompt + this.#oneLine(nodeId, "answer", event.text);
    const reasoning = this.#isFull && event.reasoning !== "" ? `(${event.reasoning})\n\n` : "";
    // The code is shown with its own event.
    const reply =
      this.#isFull || start?.purpose !== "step" ? event.text : event.text.replace(/^\s*(?:```|~~~).*$/ms, "");
    return this.#line(nodeId, line, "strong") + this.#block(nodeId, reasoning + reply, { lines: ANSWER_LINES });
  }

  #toolCall({ nodeId, callId, ok, result, durationMs }: Of<"tool-call-end">): string {
    const start = this.#close(callId, "tool-call-start")?.start;
    const args = toLine(JSON.stringify(start?.args) ?? "", this.#isFull ? Number.POSITIVE_INFINITY : 120);
    const line = `${nodeId} tool ${start?.tool ?? "?"}  ${args}  ${ok ? "ok" : "failed"}, ${formatDuration(durationMs)}`;
    const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
    return this.#line(nodeId, line, ok ? "strong" : "error") + this.#block(nodeId, text, { lines: ANSWER_LINES });
  }

  #code({ nodeId, result, order }: Of<"code-end">): string {
    const { status, reason, durationMs, state, stdout, stderr, value, error } = result;
    const printed = order === undefined ? [stdout, stderr] : [inOrder(result, order)];
    const isFinal = error?.name === "Final"; // FINAL() ends the code with an exception; that is not an error
    const outcome = isFinal ? "answer" : reason === undefined ? status : `${status} (${reason})`;
    const note = state === "kept" ? "" : `, state ${state}`;
    const line = `${nodeId} output  ${outcome}, ${formatDuration(durationMs)}${note}`;
    const texts = [...printed, value?.["text/plain"] ?? "", isFinal ? "" : (error?.traceback ?? "")];
    return (
      this.#line(nodeId, line, status === "ok" || isFinal ? undefined : "error") +
      texts.map((text) => this.#block(nodeId, text)).join("")
    );
  }

  #limit(event: Of<"limit-warning" | "limit-reached">): string {
    const line = `${event.nodeId} limit  ${describeLimit(event)} used`;
    return this.#line(event.nodeId, event.type === "limit-reached" ? `${line}, reached` : line, "error");
  }

  #nodeEnd({ nodeId, status, stopReason, answer, usage }: Of<"node-end">): string {
    const why = stopReason === "answered" ? "" : ` (${stopReason})`;
    const line = `${nodeId} ${status}${why}  ${toTokens(usage)}, ${formatCost(usage.costUsd)}`;
    const text = this.#line(nodeId, line, status === "final" ? "strong" : "error");
    // The root's answer is that of the run, which follows.
    const isRoot = (this.#depths.get(nodeId) ?? 0) === 0;
    return isRoot ? text : text + this.#block(nodeId, answer ?? "", { lines: ANSWER_LINES });
  }

  #runEnd({ result: { status, stopReason, answer, why, usage } }: Of<"run-end">): string {
    const { total, byModel, byRole, wallMs } = usage;
    const reason = stopReason === "answered" ? "" : ` (${stopReason})`;
    const calls = formatCount(total.llmCalls, "call");
    const facts = [calls, toTokens(total), formatCost(total.costUsd), formatDuration(wallMs)].join(", ");
    const roles = ROLES.flatMap((role) =>
      byRole[role] === undefined ? [] : [[ROLE_NAMES[role], byRole[role]] as const],
    );
    const parts = [Object.entries(byModel), roles].flatMap((entries) => (entries.length > 1 ? entries : []));
    return [
      `${this.#palette.paint(status === "final" ? "strong" : "error", `${status}${reason}`)}  ${facts}\n`,
      ...parts.map(([name, of]) =>
        toBlock(`${name}  ${formatCount(of.llmCalls, "call")}, ${toTokens(of)}, ${formatCost(of.costUsd)}`, {
          indent: 2,
          isFull: false,
        }),
      ),
      ...(why === null ? [] : [toBlock(why, { indent: 2, isFull: this.#isFull })]),
      toBlock(answer ?? "there is no answer", { indent: 2, isFull: true }),
    ].join("");
  }

  #open(start: ModelCallStart | Of<"tool-call-start">, prompt = ""): void {
    const [oldest] = this.#calls.keys();
    if (this.#calls.size >= MAX_OPEN && oldest !== undefined) this.#calls.delete(oldest);
    this.#calls.set(`${start.type} ${start.callId}`, { start, prompt });
  }

  #close<Type extends "model-call-start" | "tool-call-start">(callId: string, type: Type): Open<Of<Type>> | undefined {
    const open = this.#calls.get(`${type} ${callId}`);
    this.#calls.delete(`${type} ${callId}`);
    return open as Open<Of<Type>> | undefined;
  }

  /** The beginning of a text on one line. Empty if the text is. */
  #oneLine(nodeId: string, name: string, text: string): string {
    const lead = `${" ".repeat(this.#indent(nodeId) + 4)}${name}  `;
    const line = toLine(text.slice(0, MAX_ONE_LINE), MAX_ONE_LINE);
    return line === "" ? "" : `${lead}${truncateToWidth(line, Math.max(MIN_ONE_LINE, this.#columns - lead.length))}\n`;
  }

  #line(nodeId: string, text: string, colour?: Colour, indent = 2): string {
    const line = this.#isFull ? toLine(text, Number.POSITIVE_INFINITY) : toLine(text);
    return `${" ".repeat(this.#indent(nodeId) + indent)}${this.#palette.paint(colour, line)}\n`;
  }

  #block(nodeId: string, text: string, { indent = 4, lines }: { indent?: number; lines?: number } = {}): string {
    const options = { indent: this.#indent(nodeId) + indent, isFull: this.#isFull };
    return toBlock(text, lines === undefined ? options : { ...options, lines });
  }

  #indent(nodeId: string): number {
    return (this.#depths.get(nodeId) ?? 0) * STEP;
  }
}

function toTokens({ inputTokens, outputTokens, reasoningTokens, estimatedTokens }: ModelUsage): string {
  const notes = [
    ...(reasoningTokens > 0 ? [`${formatCount(reasoningTokens)} reasoning`] : []),
    ...(estimatedTokens > 0 ? [`${formatCount(estimatedTokens)} estimated`] : []),
  ];
  return `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

/** `37 of 200`. Empty: it is not one of several. */
function toPosition(batch: Batch | undefined, before: string): string {
  return batch === undefined ? "" : `${before}${formatCount(batch.ordinal)} of ${formatCount(batch.size)}`;
}

/** What code printed on both streams, in print order. A record that was changed by hand shows what it has. */
function inOrder(texts: Readonly<Record<OutputStream, string>>, order: readonly PrintedPart[]): string {
  const at = { stdout: 0, stderr: 0 };
  let printed = "";
  for (const { stream, characters } of order) {
    printed += texts[stream].slice(at[stream], at[stream] + characters);
    at[stream] += characters;
  }
  return printed + texts.stdout.slice(at.stdout) + texts.stderr.slice(at.stderr);
}
