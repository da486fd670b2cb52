// From what happens at the door to lines of the log.

import type { ExecutionResult } from "../../../protocol/execution.ts";
import type { Execution, Session } from "../../../runtime.ts";
import type { Fields, Log } from "../../log.ts";
import type { Answered } from "../guards/guarded-app.ts";
import type { Problem } from "../problem.ts";
import type { Witness } from "./witness.ts";

/** Refusals that somebody may want to hear of. */
const WARNED: ReadonlySet<number> = new Set([401, 403, 429, 503, 507]);
const MAX_CHARACTERS = 500;

export class ServerLog implements Witness {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  answered({ requestId, method, route, path, status, durationMs, remote, code }: Answered): void {
    const level = status === 500 ? "error" : WARNED.has(status) ? "warn" : "info";
    this.#log.write(level, "request", {
      requestId,
      method,
      route,
      status,
      durationMs: round(durationMs),
      remote,
      ...optional("code", code),
      ...(this.#log.isDebug && { path: path.slice(0, MAX_CHARACTERS) }),
    });
  }

  malformed({ status, code }: Problem, remote: string): void {
    this.#log.write("warn", "request-malformed", { status, code, remote });
  }

  unexpected(error: unknown, requestId?: string): void {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log.write("error", "unexpected", { ...optional("requestId", requestId), error: what });
  }

  sessionOpened({ id }: Session): void {
    this.#log.write("info", "session-open", { sessionId: id });
  }

  sessionClosed({ id }: Session, why: string): void {
    this.#log.write("info", "session-close", { sessionId: id, why });
  }

  executionEnded({ id, sessionId, code }: Execution, result: ExecutionResult | undefined): void {
    this.#log.write("info", "execution-end", {
      executionId: id,
      sessionId,
      status: result?.status ?? "failed",
      ...optional("reason", result?.reason),
      ...(result !== undefined && { durationMs: round(result.durationMs) }),
      ...(this.#log.isDebug && { code: code.slice(0, MAX_CHARACTERS) }),
    });
  }
}

function round(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}

function optional(name: string, value: string | undefined): Fields {
  return value === undefined ? {} : { [name]: value };
}
