// The read-execute-print loop. It survives code that fails, is interrupted or kills the worker.

import type { ExecutionEvent } from "../../protocol/events.ts";
import type { ExecutionResult } from "../../protocol/execution.ts";
import type { Runtime } from "../../runtime.ts";
import type { InputRequest } from "../../session/execution/input.ts";
import type { Session } from "../../session/session.ts";
import type { ExecuteOptions, SessionOptions } from "../../session/options.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { runCommand } from "./commands/commands.ts";
import { completionsOf } from "./commands/completions.ts";
import type { ReplContext } from "./context.ts";
import type { HistoryFile } from "./history-file.ts";
import { isInside } from "./editor/python-text.ts";
import type { Reader } from "./reader.ts";
import type { ConsoleOutput } from "./display/console-output.ts";
import { inspect, showSource } from "./commands/variables.ts";

export interface ConsoleParts {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly sessionOptions: SessionOptions;
  readonly timeoutMs: number | null;
  readonly reader: Reader;
  readonly output: ConsoleOutput;
  readonly history: HistoryFile;
}

/** How long to wait for the event of an input request: it may have been dropped if the code printed too much. */
const MAX_WAIT_MS = 1000;
/** Code that runs this long is complete: move the cursor below it, where the output will be. */
const LEAVE_AFTER_MS = 100;
const LEAVE = /^(?:exit|quit)(?:\(\s*\))?$/;
/** `x?` and `?x`; with two question marks for the source. */
const HELP = /^(?<before>\?\??)\s*(?<named>[\w.]+)$|^(?<name>[\w.]+)(?<after>\?\??)$/;
/** Inputs whose number is known; `In` has as many. */
const MAX_NUMBERS = 1000;

export class Console implements ReplContext {
  session: Session;
  readonly env = new Map<string, string>();
  last: ReplContext["last"];
  readonly #parts: ConsoleParts;
  /** The numbers of inputs in `In` and `Out`, by session. */
  readonly #numbers = new WeakMap<Session, Map<string, number>>();
  #subscription: Disposable | undefined;
  #isRunning = false;
  #interrupts = 0;
  #isLeaving = false;
  /** The result of incomplete code that the user is continuing. */
  #incomplete: ExecutionResult | undefined;
  /** Input requests that were announced among the output and not shown yet. */
  #pendingInputs = 0;
  #onInputEvent: () => void = () => {};
  #lastAnswer: Promise<unknown> = Promise.resolve();

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
    this.session = parts.session;
    parts.reader.onComplete = (text, cursor) => completionsOf(this, text, cursor);
    parts.reader.onInterrupt = () => this.interrupt();
    this.switchTo(parts.session);
  }

  get sessions(): readonly Session[] {
    return this.#parts.runtime.sessions.list();
  }

  /** Resolves when the user leaves. */
  async serve(): Promise<void> {
    const { reader, history } = this.#parts;
    while (!this.#isLeaving) {
      let answer = await reader.readCode(this.#prompt());
      for (; answer.kind === "text"; answer = await reader.readMore()) {
        if (!(await this.#accept(answer.text))) continue;
        history.add(answer.text.trimEnd());
        break;
      }
      if (answer.kind === "text") continue;
      reader.leave(answer.kind === "cancelled" ? "^C" : "");
      if (answer.kind === "cancelled") continue;
      if (this.#incomplete !== undefined) await this.#parts.output.result(this.#incomplete);
      return;
    }
  }

  /** Ctrl-C: interrupts what runs. False: nothing runs. */
  interrupt(): boolean {
    if (!this.#isRunning) return false;
    const { output } = this.#parts;
    this.#interrupts += 1;
    output.skipsBacklog = true;
    if (this.#interrupts === 2) output.notice("interrupting; what does not stop within two seconds is ended");
    this.session.interrupt();
    return true;
  }

  get history(): readonly string[] {
    return this.#parts.history.entries;
  }

  numberOf(input: string): number | undefined {
    return this.#numbers.get(this.session)?.get(input);
  }

  line(text: string): void {
    this.#parts.output.line(text);
  }

  code(text: string): void {
    this.#parts.output.code(text);
  }

  async run(code: string, fileName?: string): Promise<void> {
    const result = await this.#run(code, omitUndefined({ fileName }));
    if (result !== undefined) await this.#parts.output.result(result);
  }

  switchTo(session: Session): void {
    this.#subscription?.[Symbol.dispose]();
    this.session = session;
    this.#subscription = session.subscribe((event) => {
      if (event.type === "background-delta") this.#interject(event.text);
      if (event.type === "session-reset" && event.why !== "rewound") this.#numbers.delete(session);
      if (event.type === "session-reset" && event.why === "worker-lost" && !this.#isRunning) {
        this.#interject("the worker was lost: everything in the session is gone; files stay\n");
      }
    });
  }

  async load(path: string, id: string | undefined): Promise<Session> {
    const { runtime, sessionOptions } = this.#parts;
    return runtime.loadSession(path, { ...sessionOptions, ...(id !== undefined && { id }) });
  }

  async restart(): Promise<void> {
    const { id } = this.session;
    await this.session.close();
    const { runtime, sessionOptions } = this.#parts;
    const env = { ...sessionOptions.env, ...Object.fromEntries(this.env) };
    this.switchTo(await runtime.openSession({ ...sessionOptions, id, env }));
    this.line(`session ${id} is new`);
  }

  quit(): void {
    this.#isLeaving = true;
  }

  /** False: the code is incomplete and was not run. */
  async #accept(text: string): Promise<boolean> {
    const { reader, output } = this.#parts;
    const trimmed = text.trim();
    const help = HELP.exec(trimmed)?.groups;
    const name = help?.["named"] ?? help?.["name"];
    if (trimmed !== "" && !trimmed.startsWith(":") && name === undefined && !LEAVE.test(trimmed)) {
      return this.#runTyped(text);
    }
    reader.leave();
    output.begin();
    try {
      if (LEAVE.test(trimmed)) this.quit();
      else if (name !== undefined && trimmed.includes("??")) await showSource(this, name);
      else if (name !== undefined) await inspect(this, [name]);
      else if (trimmed !== "") await runCommand(this, trimmed);
    } catch (error) {
      output.error(error);
    }
    return true;
  }

  async #runTyped(text: string): Promise<boolean> {
    const code = text.trimEnd();
    const result = await this.#run(code, { console: { columns: this.#parts.reader.columns } });
    const isFinished = /\n[ \t]*$/.test(text) && !isInside(text); // an empty line: it is meant to be complete
    this.#incomplete = result?.incomplete === true && !isFinished ? result : undefined;
    if (this.#incomplete !== undefined) return false;
    this.#parts.reader.leave();
    if (result === undefined) return true;
    this.#keepNumber(code, result.executionCount);
    await this.#parts.output.result(result);
    return true;
  }

  #keepNumber(input: string, number: number): void {
    const numbers = this.#numbers.get(this.session) ?? new Map<string, number>();
    this.#numbers.set(this.session, numbers);
    numbers.delete(input); // the last number counts, and the oldest come first
    numbers.set(input, number);
    const [oldest] = numbers.keys();
    if (numbers.size > MAX_NUMBERS && oldest !== undefined) numbers.delete(oldest);
  }

  /** Undefined: the session could not run it, and the error was printed. */
  async #run(
    code: string,
    options: Pick<ExecuteOptions, "fileName" | "console">,
  ): Promise<ExecutionResult | undefined> {
    const { output, timeoutMs } = this.#parts;
    this.#isRunning = true;
    this.#interrupts = 0;
    this.#pendingInputs = 0;
    output.begin();
    const timer = setTimeout(() => this.#parts.reader.leave(), LEAVE_AFTER_MS);
    try {
      const onInput = (request: InputRequest): Promise<string | null> => this.#input(request);
      const execution = this.session.execute(code, { timeoutMs, onInput, ...options });
      for await (const event of execution) await this.#handle(event);
      const result = await execution.result;
      this.last = { durationMs: result.durationMs, ...result.usage };
      return result;
    } catch (error) {
      this.#parts.reader.leave();
      output.error(error);
      return undefined;
    } finally {
      clearTimeout(timer);
      this.#isRunning = false;
    }
  }

  async #handle(event: ExecutionEvent): Promise<void> {
    const { output, reader } = this.#parts;
    if (event.type === "output-delta") {
      reader.leave();
      output.write(event.stream, event.text);
    } else if (event.type === "display") {
      reader.leave();
      await output.display(event.data);
    } else if (event.type === "output-gap") {
      output.notice(
        `(${event.omittedBytes} bytes of ${event.stream} are missing here: more than is kept of one stream)`,
      );
    } else if (event.type === "input-start") {
      reader.leave();
      this.#pendingInputs += 1;
      this.#onInputEvent();
    }
  }

  /** Threads may request input at the same time; the user answers one after the other. */
  #input(request: InputRequest): Promise<string | null> {
    const answer = this.#lastAnswer.then(() => this.#ask(request));
    this.#lastAnswer = answer.catch(() => {});
    return answer;
  }

  async #ask({ prompt, password, signal }: InputRequest): Promise<string | null> {
    const { reader, output } = this.#parts;
    await this.#whenShown(signal);
    const answer = signal.aborted
      ? undefined
      : await reader.readLine({ before: output.tail, prompt: password ? prompt : "", password, signal });
    output.lineEnded();
    if (answer?.kind === "text") return answer.text;
    if (answer?.kind === "cancelled" && !signal.aborted) {
      this.interrupt();
      await new Promise((resolve) => signal.addEventListener("abort", resolve)); // so that the interrupt arrives first
    }
    return null;
  }

  /** Settles when all output before the oldest input request is shown. */
  async #whenShown(signal: AbortSignal): Promise<void> {
    if (this.#pendingInputs > 0) {
      this.#pendingInputs -= 1;
      return;
    }
    await new Promise<void>((resolve) => {
      this.#onInputEvent = () => {
        this.#pendingInputs -= 1;
        resolve();
      };
      signal.addEventListener("abort", () => resolve());
      setTimeout(resolve, MAX_WAIT_MS).unref();
    });
    this.#onInputEvent = () => {};
  }

  #interject(text: string): void {
    this.#parts.reader.interject(text.endsWith("\n") ? text : `${text}\n`);
  }

  #prompt(): string {
    return this.sessions.length > 1 ? `${this.session.id} >>> ` : ">>> ";
  }
}
