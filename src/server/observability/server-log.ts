// Writes what happens in a server to its log.

import type { ExecutionResult } from "../../protocol/execution.ts";
import type { RunResult } from "../../protocol/runs.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Run } from "../../rlm/run.ts";
import type { Session } from "../../session/session.ts";
import type { ShellTask } from "../../tasks/shell-task.ts";
import type { Fields, Log, LogLevel } from "./log.ts";
import type { AnsweredRequest } from "../net/guards/guarded-app.ts";
import { TokenBuckets } from "../net/guards/token-buckets.ts";
import type { Problem } from "../net/problem.ts";
import type { ActivityOrigin } from "./activity-tracker.ts";
import type { Observer } from "./observer.ts";

/** Logged as warnings. */
const WARNING_STATUSES: ReadonlySet<number> = new Set([401, 403, 429, 503, 507]);
/** Of warnings and of requests without the token: a client that has none must not fill the disk. */
const RATE_LIMIT = { perSecond: 10, burst: 500 };
const MAX_CHARACTERS = 500;

export class ServerLog implements Observer {
  readonly #log: Log;
  readonly #buckets: TokenBuckets;
  #omitted = 0;

  constructor(log: Log, now?: () => number) {
    this.#log = log;
    this.#buckets = new TokenBuckets(RATE_LIMIT, now);
  }

  requestAnswered({ path, isAnonymous, ...answered }: AnsweredRequest): void {
    const { durationMs } = answered;
    const level = levelOf(answered);
    if (level === "debug" && !this.#log.isDebug) return;
    const shown = this.#log.isDebug ? path.slice(0, MAX_CHARACTERS) : undefined;
    const fields = { ...answered, durationMs: round(durationMs), path: shown };
    if (isAnonymous || level === "warn") return this.#writeLimited(level, "request", fields);
    this.#writeOmitted();
    this.#log.write(level, "request", fields);
  }

  malformed({ status, code }: Problem, remote: string): void {
    this.#writeLimited("warn", "request-malformed", { status, code, remote });
  }

  connectionCut({ code }: Problem, remote: string): void {
    this.#writeLimited("warn", "connection-cut", { code, remote });
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

  executionEnded(
    { id, sessionId, code }: Execution,
    result: ExecutionResult | undefined,
    origin: ActivityOrigin,
  ): void {
    this.#log.write("info", "execution-end", {
      ...origin,
      executionId: id,
      sessionId,
      status: result?.status ?? "failed",
      reason: result?.reason,
      durationMs: result === undefined ? undefined : round(result.durationMs),
      code: this.#log.isDebug ? code.slice(0, MAX_CHARACTERS) : undefined,
    });
  }

  taskStarted({ id, sessionId, command }: ShellTask, origin: ActivityOrigin): void {
    const shown = this.#log.isDebug && { command: command.slice(0, MAX_CHARACTERS) };
    this.#log.write("info", "task-start", { ...origin, taskId: id, sessionId, ...shown });
  }

  taskEnded(task: ShellTask, origin: ActivityOrigin): void {
    const { id, sessionId, status, exitCode, durationMs } = task.info();
    const end = { taskId: id, sessionId, status, exitCode, durationMs: round(durationMs) };
    this.#log.write("info", "task-end", { ...origin, ...end });
  }

  runStarted({ id, settings: { query, model } }: Run, origin: ActivityOrigin): void {
    const shown = this.#log.isDebug && { query: query.slice(0, MAX_CHARACTERS) };
    this.#log.write("info", "run-start", { ...origin, runId: id, model, ...shown });
  }

  runEnded(run: Run, result: RunResult | undefined, origin: ActivityOrigin): void {
    const { id, startedAt, endedAt, notRecorded } = run;
    if (notRecorded !== undefined) this.#log.write("warn", "run-not-recorded", { runId: id, why: notRecorded });
    this.#log.write("info", "run-end", {
      ...origin,
      runId: id,
      status: result?.status ?? "failed",
      stopReason: result?.stopReason,
      ...(endedAt !== undefined && { durationMs: endedAt - startedAt }),
      ...(result !== undefined && { tokens: result.usage.total.tokens, costUsd: result.usage.total.costUsd }),
    });
  }

  /** The metrics count every request. */
  #writeLimited(level: LogLevel, event: string, fields: Fields): void {
    if (this.#buckets.take("all") > 0) {
      this.#omitted += 1;
      return;
    }
    this.#writeOmitted();
    this.#log.write(level, event, fields);
  }

  #writeOmitted(): void {
    if (this.#omitted > 0) this.#log.write("warn", "requests-left-out", { count: this.#omitted });
    this.#omitted = 0;
  }
}

/** A page in a browser asks every two seconds what has changed. */
function levelOf({ method, status }: Pick<AnsweredRequest, "method" | "status">): LogLevel {
  if (status === 500) return "error";
  if (WARNING_STATUSES.has(status)) return "warn";
  return (method === "GET" || method === "HEAD") && status < 400 ? "debug" : "info";
}

function round(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}
