// A session on a server.
//
// Calls reach the server in the order in which they were made, see CallOrder. What never waits for running code goes at once: looking,
// files, and the end.

import {
  checkExecuteOptions,
  checkGet,
  checkIdText,
  checkInspect,
  checkLook,
  checkOperationOptions,
  checkOutputRange,
  checkRows,
  checkVariableName,
} from "../../api/checks/check-calls.ts";
import { checkCode, checkOptions } from "../../api/checks/check-options.ts";
import { checkShell } from "../../api/checks/check-shell.ts";
import type { ExecuteOptions, Execution, OutputRange, OutputSlice } from "../../api/execution.ts";
import type { Files } from "../../api/files.ts";
import { OPTIONS } from "../../api/checks/option-names.ts";
import type * as api from "../../api/session.ts";
import type { ShellOptions, Task } from "../../api/task.ts";
import { ForkRefusedError, ServerRefusedError, SessionClosedError, VariableNotFoundError } from "../../errors.ts";
import type { HistoryEntry } from "../../protocol/execution.ts";
import { parseSessionId, type ExecutionId, type SessionId } from "../../protocol/ids.ts";
import type { Checkpoint, SessionInfo } from "../../protocol/sessions.ts";
import type {
  Completions,
  InspectedVariable,
  Signature,
  VariableList,
  VariableRows,
} from "../../protocol/variables.ts";
import { percentEncode, randomId, toSegment } from "../net/ids.ts";
import { Requests, type Request } from "../net/requests.ts";
import { array, nullable, object, type Check } from "../shapes/check.ts";
import { historyEntry } from "../shapes/executions.ts";
import * as shapes from "../shapes/sessions.ts";
import { toTimeout } from "../times.ts";
import { outputOf, RemoteExecution } from "../work/execution.ts";
import { startShell } from "./shell.ts";
import { RemoteFiles } from "./files.ts";
import type { Server } from "./server.ts";
import { RemoteSubscription } from "./subscription.ts";
import { getVariable, setVariable } from "./variables.ts";

export class RemoteSession implements api.Session {
  readonly id: SessionId;
  readonly files: Files;
  readonly #runtime: Server;
  /** Each request names this very session: a later one may have its id. */
  readonly #server: Server;
  readonly #path: string;
  #closed: Promise<SessionInfo> | undefined;

  constructor(server: Server, { id, createdAt }: Pick<SessionInfo, "id" | "createdAt">) {
    this.id = id;
    this.#runtime = server;
    const connection = server.requests.connection.withHeaders({ "rlm-session-created": createdAt });
    this.#server = { ...server, requests: new Requests(connection) };
    this.#path = `/v1/sessions/${percentEncode(id)}`;
    this.files = new RemoteFiles(this.#server.requests, this.#path);
  }

  /** Whether a runtime with this server made it. */
  isOf(server: Server): boolean {
    return this.#runtime === server;
  }

  execute(code: string, options: ExecuteOptions = {}): Execution {
    checkCode(code);
    checkExecuteOptions("session.execute", options, OPTIONS.execute);
    const { id = randomId("x"), signal, onInput, timeoutMs, env, fileName } = options;
    return new RemoteExecution(this.#server.requests, id, {
      route: `${this.#path}/execute`,
      body: { code, timeoutMs: toTimeout(timeoutMs), env, fileName, ...(onInput && { input: "ask" }) },
      signal,
      onInput,
      inOrder: (send) => this.#order.start(send),
    });
  }

  shell(command: string, options: ShellOptions = {}): Task {
    checkOptions("session.shell", options, OPTIONS.shell);
    checkShell(command, options);
    return startShell(this.#server, command, this.id, options);
  }

  async interrupt(): Promise<ExecutionId | null> {
    const { interrupted } = await this.#order.urge(() => this.#post("interrupt", shapes.interruptAnswer));
    return interrupted as ExecutionId | null;
  }

  async reset(): Promise<void> {
    await this.#operate("reset", shapes.sessionInfo);
  }

  info(): Promise<SessionInfo> {
    return this.#get("", shapes.sessionInfo).catch((error: unknown) => {
      if (error instanceof SessionClosedError) return this.close(); // its final statistics
      throw error;
    });
  }

  async history(): Promise<readonly HistoryEntry[]> {
    return (await this.#get("/executions", object({ executions: array(historyEntry) }), { isLarge: true })).executions;
  }

  output(executionId: string, range: OutputRange = {}): Promise<OutputSlice> {
    checkIdText(executionId);
    checkOutputRange("session.output", range);
    return outputOf(this.#server.requests, executionId, range, this.id);
  }

  subscribe(listener: api.SessionListener): api.Subscription {
    if (typeof listener !== "function") throw new TypeError("Cannot subscribe: the listener must be a function");
    return new RemoteSubscription(this.#server, this.id, listener).open();
  }

  variables(options: api.VariablesOptions = {}): Promise<VariableList> {
    checkOptions("session.variables", options, OPTIONS.variables);
    return this.#get("/variables", shapes.variableList, { query: { all: options.all } });
  }

  inspect(name: string, options: api.InspectOptions = {}): Promise<InspectedVariable | null> {
    checkInspect(name, options);
    return this.#look(name, "", shapes.inspectedVariable, options);
  }

  rows(name: string, options: api.RowsOptions = {}): Promise<VariableRows | null> {
    checkRows(name, options);
    return this.#look(name, "/rows", shapes.variableRows, options);
  }

  get(name: string, options: api.GetOptions & { readonly as: "text" }): Promise<string>;
  get(name: string, options: api.GetOptions & { readonly as: "bytes" }): Promise<Uint8Array>;
  get(name: string, options?: api.GetOptions): Promise<unknown>;
  get(name: string, options: api.GetOptions = {}): Promise<unknown> {
    checkGet(name, options);
    const path = `${this.#path}/variables/${percentEncode(name)}/value`;
    return this.#order.operate(getVariable(this.#server.requests, path, options));
  }

  set(name: string, value: api.VariableValue, options: api.OperationOptions = {}): Promise<void> {
    checkOperationOptions("session.set", options);
    checkVariableName(name);
    const path = `${this.#path}/variables/${percentEncode(name)}`;
    return this.#order.operate(setVariable(this.#server.requests, path, value, options));
  }

  complete(code: string, cursor: number, options: api.LookOptions = {}): Promise<Completions> {
    checkLook("session.complete", code, cursor, options);
    return this.#post("complete", shapes.completions, { json: { code, cursor, timeoutMs: options.timeoutMs } });
  }

  signature(code: string, cursor: number, options: api.LookOptions = {}): Promise<Signature | null> {
    checkLook("session.signature", code, cursor, options);
    const json = { code, cursor, timeoutMs: options.timeoutMs };
    const check = object({ signature: nullable(shapes.signature) });
    return this.#post("signature", check, { json }).then(({ signature }) => signature);
  }

  fork(options: api.ForkOptions = {}): Promise<api.Session> {
    checkOptions("session.fork", options, OPTIONS.fork);
    return this.#fork(options);
  }

  checkpoint(): Promise<Checkpoint> {
    return this.#operate("checkpoints", shapes.checkpoint);
  }

  async checkpoints(): Promise<readonly Checkpoint[]> {
    return (await this.#get("/checkpoints", object({ checkpoints: array(shapes.checkpoint) }))).checkpoints;
  }

  async dropCheckpoint(checkpoint: Checkpoint | string): Promise<void> {
    const id = idOf(checkpoint);
    await this.#server.requests
      .send("DELETE", `${this.#path}/checkpoints/${toSegment(id) ?? "%20"}`, {
        isDone: isNoCheckpoint,
      })
      .catch((error: unknown) => {
        if (!isNoCheckpoint(error)) throw error;
      });
  }

  async rewind(checkpoint: Checkpoint | string): Promise<Checkpoint> {
    const id = idOf(checkpoint);
    const known = typeof checkpoint === "string" ? undefined : checkpoint;
    await this.#operate("rewind", shapes.sessionInfo, { checkpoint: id }).catch((error: unknown) => {
      throw isNoCheckpoint(error) ? noCheckpoint(id, error) : error;
    });
    const reached = known ?? (await this.checkpoints()).find((one) => one.id === id);
    if (reached === undefined) throw noCheckpoint(id); // dropped meanwhile
    return reached;
  }

  async undo(): Promise<void> {
    await this.#operate("rewind", shapes.sessionInfo, {});
  }

  close(): Promise<SessionInfo> {
    this.#closed ??= this.#close().catch((error: unknown) => {
      this.#closed = undefined;
      throw error;
    });
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close().catch((error: unknown) => {
      if (!(error instanceof SessionClosedError)) throw error;
    });
  }

  get #order(): ReturnType<Server["orders"]["of"]> {
    return this.#server.orders.of(this.id);
  }

  #get<Value>(path: string, check: Check<Value>, request?: Request): Promise<Value> {
    return this.#server.requests.json("GET", this.#path + path, check, request);
  }

  #post<Value>(action: string, check: Check<Value>, request?: Request): Promise<Value> {
    return this.#server.requests.json("POST", `${this.#path}/${action}`, check, request);
  }

  /** Waits in the queue of the session. */
  #operate<Value>(action: string, check: Check<Value>, json?: object): Promise<Value> {
    return this.#order.operate(() => this.#post(action, check, { ...(json && { json }), isQueued: true }));
  }

  async #fork({ id }: api.ForkOptions): Promise<api.Session> {
    const json = { id: id === undefined ? undefined : parseSessionId(id) };
    return new RemoteSession(this.#runtime, await this.#operate("fork", shapes.sessionInfo, json));
  }

  #close(): Promise<SessionInfo> {
    return this.#order.urge(() => this.#server.requests.json("DELETE", this.#path, shapes.sessionInfo));
  }

  /** Null: there is no such variable. */
  async #look<Value>(name: string, path: string, check: Check<Value>, query: object): Promise<Value | null> {
    const segment = toSegment(name);
    if (segment === undefined) return null;
    try {
      return await this.#get(`/variables/${segment}${path}`, check, { query: { ...query } });
    } catch (error) {
      if (error instanceof VariableNotFoundError) return null;
      throw error;
    }
  }
}

function idOf(checkpoint: Checkpoint | string): string {
  const id: unknown = typeof checkpoint === "string" ? checkpoint : (checkpoint as Checkpoint | null)?.id;
  if (typeof id !== "string") throw new TypeError("Cannot use this checkpoint: give one, or its id");
  return id;
}

/** It was there, and has been dropped since. */
function isNoCheckpoint(error: unknown): boolean {
  return error instanceof ServerRefusedError && error.problem === "CHECKPOINT_NOT_FOUND";
}

function noCheckpoint(id: string, cause?: unknown): ForkRefusedError {
  const why = "it does not exist, or is no longer kept";
  return new ForkRefusedError({ action: `go back to checkpoint '${id.slice(0, 100)}'`, why }, { cause });
}
