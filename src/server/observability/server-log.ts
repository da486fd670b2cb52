// From what happens at the door to lines of the log.

import type { ExecutionResult } from "../../protocol/execution.ts";
import type { RunResult } from "../../protocol/runs.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Run } from "../../rlm/run.ts";
import type { Session } from "../../session/session.ts";
import type { ShellTask } from "../../tasks/shell-task.ts";
import type { Fields, Log, LogLevel } from "./log.ts";
import type { Answered } from "../net/guards/guarded-app.ts";
import { Rates } from "../net/guards/token-buckets.ts";
import type { Problem } from "../net/problem.ts";
import type { Origin } from "./activity-tracker.ts";
import type { Witness } from "./observer.ts";

/** Refusals that somebody may want to hear of. */
const WARNED: ReadonlySet<number> = new Set([401, 403, 429, 503, 507]);
/** Lines about them, and about requests without the token: whoever has none must not fill a disk. */
const BOUNDED = { perSecond: 10, burst: 500 };
const MAX_CHARACTERS = 500;

export class ServerLog implements Witness {
  readonly #log: Log;
  readonly #bounded: Rates;
  #leftOut = 0;

  constructor(log: Log, now?: () => number) {
    this.#log = log;
    this.#bounded = new Rates(BOUNDED, now);
  }

  answered({ requestId, method, route, path, status, durationMs, remote, code, isStranger }: Answered): void {
    const fields = {
      requestId,
      method,
      route,
      status,
      durationMs: round(durationMs),
      remote,
      code,
      path: this.#log.isDebug ? path.slice(0, MAX_CHARACTERS) : undefined,
    };
    const level = status === 500 ? "error" : WARNED.has(status) ? "warn" : "info";
    if (isStranger || level === "warn") return this.#writeBounded(level, "request", fields);
    this.#tellLeftOut();
    this.#log.write(level, "request", fields);
  }

  malformed({ status, code }: Problem, remote: string): void {
    this.#writeBounded("warn", "request-malformed", { status, code, remote });
  }

  cut({ code }: Problem, remote: string): void {
    this.#writeBounded("warn", "connection-cut", { code, remote });
  }

  unexpected(error: unknown, requestId?: string): void {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log.write("error", "unexpected", { requestId, error: what });
  }

  sessionOpened({ id }: Session): void {
    this.#log.write("info", "session-open", { sessionId: id });
  }

  sessionClosed({ id }: Session, why: string): void {
    this.#log.write("info", "session-close", { sessionId: id, why });
  }

  executionEnded({ id, sessionId, code }: Execution, result: ExecutionResult | undefined, origin: Origin): void {
    this.#log.write("info", "execution-end", {
      requestId: "requestId" in origin ? origin.requestId : undefined,
      connectionId: "connectionId" in origin ? origin.connectionId : undefined,
      executionId: id,
      sessionId,
      status: result?.status ?? "failed",
      reason: result?.reason,
      durationMs: result === undefined ? undefined : round(result.durationMs),
      code: this.#log.isDebug ? code.slice(0, MAX_CHARACTERS) : undefined,
    });
  }

  taskStarted({ id, sessionId, command }: ShellTask, origin: Origin): void {
    const shown = this.#log.isDebug && { command: command.slice(0, MAX_CHARACTERS) };
    this.#log.write("info", "task-start", { ...origin, taskId: id, sessionId, ...shown });
  }

  taskEnded(task: ShellTask, origin: Origin): void {
    const { id, sessionId, status, exitCode, durationMs } = task.info();
    const end = { taskId: id, sessionId, status, exitCode, durationMs: round(durationMs) };
    this.#log.write("info", "task-end", { ...origin, ...end });
  }

  runStarted({ id, settings: { query, model } }: Run, origin: Origin): void {
    const shown = this.#log.isDebug && { query: query.slice(0, MAX_CHARACTERS) };
    this.#log.write("info", "run-start", { ...origin, runId: id, model, ...shown });
  }

  runEnded({ id, startedAt, endedAt }: Run, result: RunResult | undefined, origin: Origin): void {
    this.#log.write("info", "run-end", {
      ...origin,
      runId: id,
      status: result?.status ?? "failed",
      stopReason: result?.stopReason,
      ...(endedAt !== undefined && { durationMs: endedAt - startedAt }),
      ...(result !== undefined && { tokens: result.usage.total.tokens, costUsd: result.usage.total.costUsd }),
    });
  }

  /** The metrics count all. */
  #writeBounded(level: LogLevel, event: string, fields: Fields): void {
    if (this.#bounded.take("all") > 0) {
      this.#leftOut += 1;
      return;
    }
    this.#tellLeftOut();
    this.#log.write(level, event, fields);
  }

  #tellLeftOut(): void {
    if (this.#leftOut > 0) this.#log.write("warn", "requests-left-out", { count: this.#leftOut });
    this.#leftOut = 0;
  }
}

function round(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}
