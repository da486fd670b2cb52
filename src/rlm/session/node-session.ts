// The session of a node. The functions and variables of a run are installed there, protected from changes by code, and restored when
// the state was lost.

import type { OutputStream } from "../../protocol/execution.ts";
import type { Strategy } from "../../protocol/strategy/strategy.ts";
import type { Result } from "../../api/result-view.ts";
import type { Session } from "../../session/session.ts";
import type { ToolListing } from "../../tools/registry.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { StepRecord } from "../compaction/conversation.ts";
import { describeItems, loadContext } from "../context/context.ts";
import type { ContextItem } from "../context/context-item.ts";
import { shorten } from "../../util/text/shorten.ts";
import { escapeHostLines, toHostLine } from "../notes/host-line.ts";
import { toObservation } from "./observation.ts";

export interface NodeSessionSettings {
  readonly tools: readonly ToolListing[];
  readonly strategy: Pick<Strategy, "notes" | "helpers">;
  readonly context: readonly ContextItem[];
  readonly cellTimeoutMs: number;
  readonly signal: AbortSignal;
}

interface RunOptions {
  readonly step: number;
  readonly sizes: Strategy["observations"];
  readonly onOutput: (stream: OutputStream, text: string) => void;
}

interface CodeOutcome {
  readonly result: Result;
  /** What the model is shown. */
  readonly observation: string;
}

export type FinalReading =
  | { readonly kind: "submitted" }
  /** To be taken as it is. */
  | { readonly kind: "prose" }
  /** To be evaluated. `isSeveral`: commas separate several values. */
  | { readonly kind: "expression"; readonly isSeveral: boolean }
  /** `why`: what the model is shown. */
  | { readonly kind: "unreadable"; readonly why: string };

/** For our own code, which is only slow where other code holds the interpreter. */
const OWN_TIMEOUT_MS = 30_000;
/** In characters. */
const MAX_ERROR = 2_000;
const RELOADED = "The variables of the context were loaded again";
/** Of a value, as `rlm_blocks` prints it. */
const SIZE = /^[\p{L}\p{N}_]{1,80}(?:(?:,|, at least| and) [\d,]{1,30} (?:item|byte|character)s?(?: in all)?){1,3}$/u;

export class NodeSession {
  readonly #session: Session;
  readonly #settings: NodeSessionSettings;
  readonly #unlisten: () => void;
  /** What is in `_history`. */
  readonly #history: StepRecord[] = [];
  #epoch = 0;

  /** Discarded at once when the signal is aborted: the state is not needed any more, and code may ignore an interrupt. */
  constructor(session: Session, settings: NodeSessionSettings) {
    this.#session = session;
    this.#settings = settings;
    this.#unlisten = onAbort(settings.signal, () => this.discard());
  }

  /** Call once, first. Returns the description of the context for the model. */
  async prepare({ contextCharacters }: Strategy["observations"]): Promise<string> {
    const { context, signal } = this.#settings;
    this.#epoch = (await this.#install()).unwrap().epoch;
    await loadContext(this.#session, context, signal).catch((error: Error) => {
      signal.throwIfAborted();
      throw new Error(`${error.message}. No model was asked`, { cause: error });
    });
    return describeItems(this.#session, context, contextCharacters);
  }

  /** Rejects where the run was cancelled, or the context could not be loaded again after a loss of state. */
  async run(code: string, { step, sizes, onOutput }: RunOptions): Promise<CodeOutcome> {
    const { cellTimeoutMs, signal } = this.#settings;
    const wasLost = await this.#restore();
    const execution = this.#session.execute(code, { timeoutMs: cellTimeoutMs, signal, fileName: `<block ${step}>` });
    for await (const event of execution) {
      if (event.type === "output-delta") onOutput(event.stream, event.text);
    }
    const result = await execution.result;
    signal.throwIfAborted();
    const isLost = result.state !== "kept" && (await this.#restore());
    const sizeOfValue = (): Promise<string> => this.#sizeOfLast();
    const parts = [
      wasLost ? toHostLine(`Before this block all variables were lost: the process had ended. ${RELOADED}`) : "",
      await toObservation(this.#session, execution, result, { step, sizes, sizeOfValue }),
      isLost ? toHostLine(RELOADED) : "",
    ];
    return { result, observation: parts.filter((part) => part !== "").join("\n") };
  }

  /** Whether Python could compile it. */
  async parses(code: string): Promise<boolean> {
    const { status } = await this.#own(`check(${JSON.stringify(JSON.stringify(code))})`);
    return status === "ok";
  }

  /** Whether one of the blocks uses one of the variables. */
  async uses(sources: readonly string[], names: readonly string[]): Promise<boolean> {
    const [blocks, wanted] = [sources, names].map((list) => JSON.stringify(JSON.stringify(list)));
    const { error } = await this.#own(`require_use(${blocks}, ${wanted})`, "rlm_blocks");
    return error?.name !== "LookupError";
  }

  /** Adds blocks to `_history`, also where the state is lost later. Code without an output has an empty one. False: that failed. */
  async remember(steps: readonly StepRecord[]): Promise<boolean> {
    this.#history.push(...steps);
    await this.#restore();
    return this.#setHistory(steps);
  }

  /** A line for each, as far as they fit. */
  async describeVariables(maxCharacters: number): Promise<string> {
    const { stdout } = await this.#own(`print_variables(${maxCharacters})`, "rlm_blocks");
    return stdout.trimEnd().slice(0, maxCharacters);
  }

  /** Submits a variable as the answer. Returns what the model is shown where that fails, else an empty text. */
  async submitVariable(name: string): Promise<string> {
    await this.#restore();
    const { error, status } = await this.#own(`FINAL_VAR(${JSON.stringify(name)})`);
    if (error?.name === "Final") return "";
    return error?.value ? toShown(error.value) : `FINAL_VAR did not work: ${status}`;
  }

  /** What FINAL(...) in plain text holds. A value is submitted as the answer. */
  async readFinal(source: string): Promise<FinalReading> {
    await this.#restore();
    const { error } = await this.#own(`read(${JSON.stringify(JSON.stringify(source))})`, "rlm_final");
    const { name, value } = error ?? { name: "", value: "" };
    switch (name) {
      case "Final":
        return { kind: "submitted" };
      case "Prose":
        return { kind: "prose" };
      case "Expression":
        return { kind: "expression", isSeveral: value === "several" };
      default:
        return {
          kind: "unreadable",
          why: value ? toShown(value) : "FINAL(...) was not read. Write it in a block of code",
        };
    }
  }

  discard(): void {
    this.#unlisten();
    void this.#session.discard();
  }

  /** Installs what a run needs, as before the first block. True: the state was lost, and the context was loaded again. */
  async #restore(): Promise<boolean> {
    const { context, signal } = this.#settings;
    const { epoch } = await this.#install();
    signal.throwIfAborted();
    if (epoch === this.#epoch) return false;
    this.#epoch = epoch;
    await loadContext(this.#session, context, signal);
    if (this.#history.length > 0) await this.#setHistory(this.#history);
    return true;
  }

  /** False: code has broken what is needed for it, or used up the memory. That is no reason to end. */
  async #setHistory(steps: readonly StepRecord[]): Promise<boolean> {
    const { signal } = this.#settings;
    const json = steps.map(({ step, code = "", observation = "" }) => [step, code, observation]);
    try {
      await this.#session.set("_rlm_steps", { json }, { signal });
      return (await this.#own("remember()", "rlm_blocks")).status === "ok";
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  #install(): Promise<Result> {
    const { tools, strategy } = this.#settings;
    const [listings, helpers] = [tools, strategy.helpers].map((list) => JSON.stringify(JSON.stringify(list)));
    return this.#own(`install(${listings}, ${helpers})`);
  }

  /** Empty: it has none. */
  async #sizeOfLast(): Promise<string> {
    if (!this.#settings.strategy.notes.totals) return "";
    const { stdout } = await this.#own("print_size_of_last()", "rlm_blocks");
    return SIZE.test(stdout) ? stdout : "";
  }

  /** Imports the module rather than use a variable, which code may have changed. */
  #own(call: string, module = "rlm_session"): Promise<Result> {
    const { signal } = this.#settings;
    return this.#session.execute(`__import__("${module}").${call}`, { timeoutMs: OWN_TIMEOUT_MS, signal }).result;
  }
}

/** The message of an error that code of the session may have raised. */
function toShown(message: string): string {
  return escapeHostLines(shorten(message, MAX_ERROR));
}
