// What Prometheus reads at /metrics. Label values are limited: routes come from the table, codes and statuses are ours.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ExecutionResult } from "../../protocol/execution.ts";
import type { Runtime } from "../../runtime.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { withTimeout } from "../../util/async/with-timeout.ts";
import type { AnsweredRequest } from "../net/guards/guarded-app.ts";
import type { Problem } from "../net/problem.ts";
import type { Observer } from "./observer.ts";

/** From half a millisecond to five minutes: a warm `1+1` takes about one millisecond. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** When sessions do not answer in time, the total of the last measurement is reported. */
const MEASURE_MS = 1_000;

export class Metrics implements Partial<Observer> {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "rlm_http_requests_total",
    help: "Requests that were answered",
    labelNames: ["method", "route", "status"],
    registers: [this.#registry],
  });
  readonly #requestSeconds = new Histogram({
    name: "rlm_http_request_seconds",
    help: "Time until the head of the answer was known",
    labelNames: ["route"],
    buckets: BUCKETS,
    registers: [this.#registry],
  });
  readonly #refusals = new Counter({
    name: "rlm_refusals_total",
    help: "Requests that were answered with a problem, by its code",
    labelNames: ["code"],
    registers: [this.#registry],
  });
  readonly #opened = new Counter({
    name: "rlm_sessions_opened_total",
    help: "Sessions that were opened",
    registers: [this.#registry],
  });
  readonly #executions = new Counter({
    name: "rlm_executions_total",
    help: "Executions that ended, by their status; failed: the session could not run it",
    labelNames: ["status"],
    registers: [this.#registry],
  });
  readonly #executionSeconds = new Histogram({
    name: "rlm_execution_seconds",
    help: "Time that code ran",
    buckets: BUCKETS,
    registers: [this.#registry],
  });
  /** Set by the server that has them. */
  websockets: () => { readonly size: number; readonly heldBytes: number } = () => ({ size: 0, heldBytes: 0 });
  #sessionBytes = 0;

  constructor(runtime: Runtime, executions: { readonly running: number }) {
    this.#gauge("rlm_sessions", "Sessions that are open", () => runtime.sessions.list().length);
    this.#gauge("rlm_executions_running", "Executions that are running or queued", () => executions.running);
    this.#gauge("rlm_tasks_running", "Shell commands that run", () => countTasks(runtime));
    this.#gauge("rlm_runs_running", "Recursive runs that are running", () => runtime.runs.running);
    this.#gauge("rlm_websockets", "WebSockets that are open", () => this.websockets().size);
    this.#gauge("rlm_websocket_held_bytes", "Messages to and from WebSockets that are held, small ones aside", () => {
      return this.websockets().heldBytes;
    });
    this.#gauge("rlm_pool_waiting", "Sandboxes that are ready for the next session", () => runtime.report().waiting);
    const memory = new Gauge({
      name: "rlm_memory_bytes",
      help: "Resident memory of the server, and memory and files of all sessions",
      labelNames: ["of"],
      registers: [this.#registry],
      collect: async () => {
        memory.set({ of: "server" }, process.memoryUsage.rss());
        memory.set({ of: "sessions" }, await this.#measure(runtime));
      },
    });
    collectDefaultMetrics({ register: this.#registry });
  }

  /** In the text format of Prometheus. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  requestAnswered({ method, route, status, durationMs, code }: AnsweredRequest): void {
    this.#requests.inc({ method: route === "other" ? "other" : method, route, status });
    this.#requestSeconds.observe({ route }, durationMs / 1000);
    if (code !== undefined) this.#refusals.inc({ code });
  }

  malformed({ code }: Problem): void {
    this.#refusals.inc({ code });
  }

  connectionCut({ code }: Problem): void {
    this.#refusals.inc({ code });
  }

  sessionOpened(): void {
    this.#opened.inc();
  }

  executionEnded(_execution: Execution, result: ExecutionResult | undefined): void {
    this.#executions.inc({ status: result?.status ?? "failed" });
    if (result !== undefined) this.#executionSeconds.observe(result.durationMs / 1000);
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => gauge.set(read()) });
  }

  async #measure({ sessions }: Runtime): Promise<number> {
    const taken = await withTimeout(MEASURE_MS, Promise.all(sessions.list().map(toBytes)));
    if (taken !== undefined) this.#sessionBytes = taken.reduce((total, bytes) => total + bytes, 0);
    return this.#sessionBytes;
  }
}

async function toBytes(session: Session): Promise<number> {
  const usage = await session.usage().catch(() => null);
  return usage === null ? 0 : usage.memoryBytes + usage.diskBytes;
}

function countTasks({ tasks }: Runtime): number {
  return tasks.list().filter((task) => task.kind === "shell" && task.status === "running").length;
}
