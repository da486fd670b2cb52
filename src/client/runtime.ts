// The runtime of a server, as callers see it.

import {
  checkExecuteOptions,
  checkIdText,
  checkPageOptions,
  checkRunListOptions,
  checkSessionOptions,
  checkSource,
  checkTaskListOptions,
} from "../api/checks/check-calls.ts";
import { checkCode, checkOptions } from "../api/checks/check-options.ts";
import { checkShell } from "../api/checks/check-shell.ts";
import type { Execution, Executions } from "../api/execution.ts";
import { OPTIONS } from "../api/checks/option-names.ts";
import type { Page, PageOptions } from "../api/page.ts";
import type { RLM, RLMOptions, Runs } from "../api/run.ts";
import type { OneOffOptions, Runtime, RuntimeShellOptions } from "../api/runtime.ts";
import type { Session, SessionOptions, Sessions, StandardLibrary } from "../api/session.ts";
import type { Task, TaskListOptions, Tasks } from "../api/task.ts";
import { SessionClosedError, SessionNotFoundError } from "../errors.ts";
import type { RuntimeInfo } from "../protocol/api/about.ts";
import { parseSessionId } from "../protocol/ids.ts";
import { randomId, toSegment, type Query } from "./net/ids.ts";
import { RemoteSession } from "./session/session.ts";
import type { Server } from "./session/server.ts";
import { startShell } from "./session/shell.ts";
import { array, nullable, object, string, type Check } from "./shapes/check.ts";
import { runInfo } from "./shapes/runs.ts";
import { runtimeInfo, sessionInfo, stdlibListing } from "./shapes/sessions.ts";
import { taskInfo } from "./shapes/tasks.ts";
import { toTimeout } from "./times.ts";
import { RemoteExecution } from "./work/execution.ts";
import { RemoteRLM } from "./work/rlm.ts";
import { RemoteRun } from "./work/run.ts";
import { RemoteTask } from "./work/task.ts";

export class RemoteRuntime implements Runtime {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  get sessions(): Sessions {
    return {
      get: (id) => {
        checkIdText(id);
        return this.#getSession(id);
      },
      list: (options = {}) => {
        checkPageOptions("sessions.list", options);
        return this.#list("/v1/sessions", "sessions", sessionInfo, options);
      },
    };
  }

  get tasks(): Tasks {
    return {
      get: (id) => {
        checkIdText(id);
        return new RemoteTask(this.#server.requests, id);
      },
      list: (options: TaskListOptions = {}) => {
        checkTaskListOptions(options);
        const { status, sessionId } = options;
        return this.#list("/v1/tasks", "tasks", taskInfo, options, { status, sessionId });
      },
    };
  }

  get runs(): Runs {
    return {
      get: (id) => {
        checkIdText(id);
        return new RemoteRun(this.#server.requests, id);
      },
      list: (options = {}) => {
        checkRunListOptions(options);
        const { status, text } = options;
        return this.#list("/v1/runs", "runs", runInfo, options, { status, text });
      },
    };
  }

  get executions(): Executions {
    return {
      get: (id) => {
        checkIdText(id);
        return new RemoteExecution(this.#server.requests, id);
      },
    };
  }

  get stdlib(): StandardLibrary {
    const { requests } = this.#server;
    return {
      add: (source) => {
        checkSource(source);
        const check = object({ names: array(string) });
        return requests.json("POST", "/v1/stdlib", check, { json: { code: source } }).then(({ names }) => names);
      },
      list: () => requests.json("GET", "/v1/stdlib", stdlibListing),
    };
  }

  openSession(options: SessionOptions = {}): Promise<Session> {
    checkSessionOptions("runtime.openSession", options, OPTIONS.session);
    const json = { ...options, idleTimeoutMs: toTimeout(options.idleTimeoutMs) };
    return this.#server.requests
      .json("POST", "/v1/sessions", sessionInfo, { json })
      .then((info) => new RemoteSession(this.#server, info));
  }

  execute(code: string, options: OneOffOptions = {}): Execution {
    checkCode(code);
    checkExecuteOptions("runtime.execute", options, OPTIONS.oneOff);
    checkSessionOptions("runtime.execute", { ...options, id: undefined }, OPTIONS.oneOff);
    const { id = randomId("x"), signal, onInput, ...rest } = options;
    return new RemoteExecution(this.#server.requests, id, {
      route: "/v1/execute",
      body: { ...rest, code, timeoutMs: toTimeout(rest.timeoutMs), ...(onInput && { input: "ask" }) },
      signal,
      onInput,
      inOrder: (send) => send(),
    });
  }

  shell(command: string, options: RuntimeShellOptions = {}): Task {
    checkOptions("runtime.shell", options, OPTIONS.runtimeShell);
    checkShell(command, options);
    const { session, ...rest } = options;
    if (session instanceof RemoteSession && session.isOf(this.#server)) return session.shell(command, rest);
    const sessionId = typeof session === "string" ? session : session?.id;
    return startShell(this.#server, command, session === undefined ? undefined : parseSessionId(sessionId), rest);
  }

  rlm(options: RLMOptions = {}): RLM {
    return new RemoteRLM(this.#server.requests, options);
  }

  info(): Promise<RuntimeInfo> {
    return this.#server.requests.json("GET", "/v1/version", runtimeInfo);
  }

  close(): Promise<void> {
    this.#server.requests.connection.close();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #getSession(id: string): Promise<Session> {
    const segment = toSegment(id);
    if (segment === undefined) throw new SessionNotFoundError({ sessionId: id, known: [] });
    try {
      const info = await this.#server.requests.json("GET", `/v1/sessions/${segment}`, sessionInfo);
      return new RemoteSession(this.#server, info);
    } catch (error) {
      if (!(error instanceof SessionClosedError)) throw error;
      throw new SessionNotFoundError({ sessionId: id, known: [] }, { cause: error });
    }
  }

  async #list<Item>(
    path: string,
    name: string,
    item: Check<Item>,
    { limit, after }: PageOptions,
    query: Query = {},
  ): Promise<Page<Item>> {
    const check = object<Record<string, unknown>>({ [name]: array(item), next: nullable(string) });
    const page = await this.#server.requests.json("GET", path, check, {
      query: { ...query, limit, after },
      isLarge: true,
    });
    return { items: page[name] as readonly Item[], next: page["next"] as string | null };
  }
}
