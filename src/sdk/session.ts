// A session as the SDK gives it. Arguments are checked here, before anything is queued.

import { inspect as printed } from "node:util";
import {
  checkExecuteOptions,
  checkGet,
  checkIdText,
  checkInspect,
  checkLine,
  checkLook,
  checkOperationOptions,
  checkOutputRange,
  checkRows,
  checkVariableName,
  checkVariableValue,
} from "../api/checks/check-calls.ts";
import { checkCode, checkOptions } from "../api/checks/check-options.ts";
import { checkContent } from "../api/content.ts";
import type { ExecuteOptions, Execution, InputRequest, OutputRange, OutputSlice } from "../api/execution.ts";
import type { LocalFiles, LocalSession, LocalVariableValue } from "../api/local.ts";
import { OPTIONS } from "../api/checks/option-names.ts";
import type {
  ForkOptions,
  GetOptions,
  InspectOptions,
  LookOptions,
  OperationOptions,
  RowsOptions,
  SessionListener,
  Subscription,
  VariablesOptions,
} from "../api/session.ts";
import type { ShellOptions, Task } from "../api/task.ts";
import { ExecutionNotFoundError } from "../errors.ts";
import type { HistoryEntry } from "../protocol/execution.ts";
import type { ExecutionId, SessionId } from "../protocol/ids.ts";
import type { LoadReport, SaveReport } from "../protocol/session-manifest.ts";
import type { Checkpoint, SessionInfo } from "../protocol/sessions.ts";
import type { Completions, InspectedVariable, Signature, VariableList, VariableRows } from "../protocol/variables.ts";
import type { Execution as InnerExecution } from "../session/execution/execution.ts";
import type { Session as Inner } from "../session/session.ts";
import { randomId } from "../util/make-id.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { SDKExecution } from "./execution.ts";
import { SDKFiles } from "./files.ts";
import { toPlainBytes, toPlainSlice } from "./plain-bytes.ts";
import { toFingerprint, type RecentExecutions } from "./recent-executions.ts";
import { spoolContent, type SpooledContent } from "./spool-content.ts";
import { subscribe } from "./subscription.ts";

/** What a session needs of its runtime. */
export interface SessionOwner {
  readonly recent: RecentExecutions;
  /** The largest value of a variable. */
  readonly maxValueBytes: number;
  shell(command: string, options: ShellOptions, session: Inner): Task;
  toSession(session: Inner): LocalSession;
}

export class SDKSession implements LocalSession {
  readonly id: SessionId;
  readonly files: LocalFiles;
  readonly #session: Inner;
  readonly #owner: SessionOwner;

  constructor(session: Inner, owner: SessionOwner) {
    this.id = session.id;
    this.files = new SDKFiles(session.files);
    this.#session = session;
    this.#owner = owner;
  }

  get loaded(): LoadReport | null {
    return this.#session.loaded;
  }

  execute(code: string, options?: ExecuteOptions): Execution {
    checkCode(code);
    if (options !== undefined) checkExecuteOptions("session.execute", options, OPTIONS.execute);
    try {
      const execution = options === undefined ? this.#session.execute(code) : this.#execute(code, options);
      if (options?.id === undefined) this.#owner.recent.add(execution);
      return new SDKExecution(execution.id, execution);
    } catch (error) {
      return new SDKExecution(toExecutionId(options?.id), Promise.reject(error));
    }
  }

  shell(command: string, options: ShellOptions = {}): Task {
    return this.#owner.shell(command, options, this.#session);
  }

  async interrupt(): Promise<ExecutionId | null> {
    const interrupted = this.#session.interrupt();
    await interrupted?.result.catch(() => {});
    return interrupted?.id ?? null;
  }

  async reset(): Promise<void> {
    await this.#session.reset();
  }

  info(): Promise<SessionInfo> {
    return this.#session.info();
  }

  async history(): Promise<readonly HistoryEntry[]> {
    this.#session.checkOpen();
    return this.#session.history();
  }

  output(executionId: string, range: OutputRange = {}): Promise<OutputSlice> {
    checkIdText(executionId);
    checkOutputRange("session.output", range);
    return this.#output(executionId, range);
  }

  subscribe(listener: SessionListener): Subscription {
    if (typeof listener !== "function") throw new TypeError("Cannot subscribe: give a function");
    return subscribe(this.#session, listener);
  }

  variables(options: VariablesOptions = {}): Promise<VariableList> {
    checkOptions("session.variables", options, OPTIONS.variables);
    return this.#session.variables(omitUndefined(options));
  }

  inspect(name: string, options: InspectOptions = {}): Promise<InspectedVariable | null> {
    checkInspect(name, options);
    return this.#session.inspect(name, omitUndefined(options));
  }

  rows(name: string, options: RowsOptions = {}): Promise<VariableRows | null> {
    checkRows(name, options);
    return this.#session.rows(name, omitUndefined(options));
  }

  get(name: string, options: GetOptions & { readonly as: "json" }): Promise<unknown>;
  get(name: string, options: GetOptions & { readonly as: "text" }): Promise<string>;
  get(name: string, options: GetOptions & { readonly as: "bytes" }): Promise<Uint8Array>;
  get(name: string, options?: GetOptions): Promise<unknown>;
  get(name: string, options: GetOptions = {}): Promise<unknown> {
    checkGet(name, options);
    return this.#get(name, options);
  }

  set(name: string, value: LocalVariableValue, options: OperationOptions = {}): Promise<void> {
    checkOperationOptions("session.set", options);
    checkVariableName(name);
    checkVariableValue(value, VALUE_KINDS);
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason as Error);
    const own = omitUndefined(value);
    return "stream" in own
      ? this.#setFromStream(name, own, options)
      : this.#session.set(name, own, omitUndefined(options));
  }

  save(path: string, options: OperationOptions = {}): Promise<SaveReport> {
    checkOperationOptions("session.save", options);
    return this.#save(path, options);
  }

  complete(code: string, cursor: number, options: LookOptions = {}): Promise<Completions> {
    checkLook("session.complete", code, cursor, options);
    return this.#session.complete(code, cursor, omitUndefined(options));
  }

  signature(code: string, cursor: number, options: LookOptions = {}): Promise<Signature | null> {
    checkLook("session.signature", code, cursor, options);
    return this.#session.signature(code, cursor, omitUndefined(options));
  }

  fork(options: ForkOptions = {}): Promise<LocalSession> {
    checkOptions("session.fork", options, OPTIONS.fork);
    return this.#fork(options);
  }

  async checkpoint(): Promise<Checkpoint> {
    return { ...(await this.#session.checkpoint()) };
  }

  async checkpoints(): Promise<readonly Checkpoint[]> {
    this.#session.checkOpen();
    return this.#session.checkpoints().map((checkpoint) => ({ ...checkpoint }));
  }

  async dropCheckpoint(checkpoint: Checkpoint | string): Promise<void> {
    this.#session.checkOpen();
    this.#session.dropCheckpoint(checkpoint);
  }

  async rewind(checkpoint: Checkpoint | string): Promise<Checkpoint> {
    return { ...(await this.#session.rewind(checkpoint)) };
  }

  undo(): Promise<void> {
    return this.#session.undo();
  }

  hold(): Disposable {
    return this.#session.hold();
  }

  close(): Promise<SessionInfo> {
    return this.#session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session.discard();
  }

  /** For console.log: assertion libraries would otherwise call `inspect`, which has another meaning here. */
  [printed.custom](): string {
    return `Session { id: '${this.id}' }`;
  }

  #execute(code: string, options: ExecuteOptions): InnerExecution {
    const { id } = options;
    const start = (): InnerExecution => this.#session.execute(code, toExecuteOptions(options));
    if (id === undefined) return start();
    return this.#owner.recent.startOnce(id, toFingerprint(this.id, code, options), start);
  }

  #setFromStream(name: string, value: StreamedValue, options: OperationOptions): Promise<void> {
    const { stream, as = "bytes" } = value;
    checkContent(`the value of '${name}'`, stream);
    const over = new AbortController();
    const signal = options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]);
    let spooled: Promise<SpooledContent> | undefined;
    const open = (): Promise<SpooledContent> =>
      (spooled ??= spoolContent(stream, { maxBytes: this.#owner.maxValueBytes, signal }));
    const setting = this.#session.set(name, { open, as }, omitUndefined(options)); // throws for an unknown `as`
    return afterReceiving(open(), setting, () => over.abort()); // received while earlier code runs
  }

  async #save(path: string, options: OperationOptions): Promise<SaveReport> {
    return this.#session.save(path, omitUndefined(options));
  }

  async #output(executionId: string, range: OutputRange): Promise<OutputSlice> {
    this.#session.checkOpen();
    const found = this.#owner.recent.find(executionId);
    const slice = found?.sessionId === this.id ? found.output(omitUndefined(range)) : undefined;
    const isGone = slice === undefined || (slice.readableBytes === 0 && slice.totalBytes > 0);
    if (isGone) throw new ExecutionNotFoundError({ executionId });
    return toPlainSlice(slice);
  }

  async #get(name: string, { as = "json", ...options }: GetOptions): Promise<unknown> {
    const bytes = await this.#session.get(name, { as, ...omitUndefined(options) });
    switch (as) {
      case "json":
        return JSON.parse(bytes.toString("utf8")) as unknown;
      case "text":
        return bytes.toString("utf8");
      case "bytes":
        return toPlainBytes(bytes);
    }
  }

  async #fork(options: ForkOptions): Promise<LocalSession> {
    return this.#owner.toSession(await this.#session.fork(omitUndefined(options)));
  }
}

const VALUE_KINDS = ["json", "text", "bytes", "stream", "file"];

type StreamedValue = Extract<LocalVariableValue, { readonly stream: unknown }>;

/** Frees what was received once it is set. Rejects with what the source of the content raised, if it did. */
async function afterReceiving(
  receiving: Promise<SpooledContent>,
  setting: Promise<void>,
  stop: () => void,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const received = receiving.catch((error: unknown) => {
    failure = { error };
  });
  try {
    await setting;
  } catch (error) {
    throw failure === undefined ? error : failure.error;
  } finally {
    stop();
    void received.then((content) => content?.[Symbol.asyncDispose]());
  }
}

/** Of an execution that was refused, where the caller chose none. */
function toExecutionId(id: string | undefined): ExecutionId {
  return (id ?? randomId("x")) as ExecutionId;
}

/** Without what is undefined, which would count as a value. */
export function toExecuteOptions({
  id,
  timeoutMs,
  env,
  fileName,
  signal,
  onInput,
}: ExecuteOptions): Parameters<Inner["execute"]>[1] {
  return omitUndefined({
    id,
    timeoutMs,
    env,
    fileName,
    signal,
    onInput:
      typeof onInput === "function" ? async (request: InputRequest) => checkLine(await onInput(request)) : onInput,
  });
}
