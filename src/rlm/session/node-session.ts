// The session of a node: what a run has in it is put there, kept there whatever the code does, and put back when it was lost.

import type { OutputStream } from "../../protocol/execution.ts";
import type { Result } from "../../session/result.ts";
import type { Session } from "../../session/session.ts";
import type { ToolListing } from "../../tools/registry.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import { type ContextItem, describeItems, loadContext } from "../context/context.ts";
import { observe } from "./observation.ts";

export interface NodeSessionSettings {
  readonly tools: readonly ToolListing[];
  readonly context: readonly ContextItem[];
  readonly cellTimeoutMs: number;
  readonly signal: AbortSignal;
}

interface Ran {
  readonly result: Result;
  /** What the model is shown of it. */
  readonly told: string;
}

/** For what is ours; only code that holds the interpreter could make it take long. */
const OWN_TIMEOUT_MS = 30_000;
const RELOADED = "The variables of the context were loaded again.";

export class NodeSession {
  readonly #session: Session;
  readonly #settings: NodeSessionSettings;
  readonly #unlisten: () => void;
  #epoch = 0;

  /** Ends with its signal, at once: nobody needs the state any more, and code may take an interrupt for no reason to stop. */
  constructor(session: Session, settings: NodeSessionSettings) {
    this.#session = session;
    this.#settings = settings;
    this.#unlisten = onAbort(settings.signal, () => this.discard());
  }

  /** Once, first. What describes the context to the model. */
  async prepare(): Promise<string> {
    const { context, signal } = this.#settings;
    this.#epoch = (await this.#install()).unwrap().epoch;
    await loadContext(this.#session, context, signal);
    return describeItems(this.#session, context);
  }

  /** Rejects where the run was cancelled, or the context could not be loaded again. */
  async run(code: string, turn: number, onOutput: (stream: OutputStream, text: string) => void): Promise<Ran> {
    const { cellTimeoutMs, signal } = this.#settings;
    const wasLost = await this.#renew();
    const execution = this.#session.execute(code, { timeoutMs: cellTimeoutMs, signal });
    for await (const event of execution) {
      if (event.type === "output-delta") onOutput(event.stream, event.text);
    }
    const result = await execution.result;
    signal.throwIfAborted();
    const isLost = result.state !== "kept" && (await this.#renew());
    const told = [
      wasLost ? `Before this block all variables were lost: the process had ended. ${RELOADED}` : "",
      await observe(this.#session, execution, result, turn),
      isLost ? RELOADED : "",
    ];
    return { result, told: told.filter((part) => part !== "").join("\n") };
  }

  /** Whether Python could compile it. */
  async parses(code: string): Promise<boolean> {
    const { status } = await this.#own(`check(${JSON.stringify(JSON.stringify(code))})`);
    return status === "ok";
  }

  /** Gives a variable as the answer. What the model is told where that does not work; else empty. */
  async giveVariable(name: string): Promise<string> {
    await this.#renew();
    const { error, status } = await this.#own(`FINAL_VAR(${JSON.stringify(name)})`);
    if (error?.name === "Final") return "";
    return error?.value || `FINAL_VAR did not work: ${status}`;
  }

  discard(): void {
    this.#unlisten();
    void this.#session.discard();
  }

  /** What is ours is there, as before the first block. True: everything else was lost meanwhile, but for the context. */
  async #renew(): Promise<boolean> {
    const { context, signal } = this.#settings;
    const { epoch } = await this.#install();
    signal.throwIfAborted();
    if (epoch === this.#epoch) return false;
    this.#epoch = epoch;
    await loadContext(this.#session, context, signal);
    return true;
  }

  #install(): Promise<Result> {
    return this.#own(`install(${JSON.stringify(JSON.stringify(this.#settings.tools))})`);
  }

  /** The module comes from the interpreter, not from a variable that code may have changed. */
  #own(call: string): Promise<Result> {
    const { signal } = this.#settings;
    return this.#session.execute(`__import__("rlm_session").${call}`, { timeoutMs: OWN_TIMEOUT_MS, signal }).result;
  }
}
