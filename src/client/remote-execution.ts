// Code that runs in a session of a server: its events as they come, also when the connection breaks in between.

import { randomUUID } from "node:crypto";
import { execution, executionFailed } from "../protocol/api/executions.ts";
import { executionEvent, type ExecutionEvent } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import { lastingEvents } from "./resume.ts";
import type { ServerClient } from "./client.ts";
import type { StreamedEvent } from "./events.ts";
import { ServerProblem } from "./problem.ts";

const CLOSE_MS = 2_000;

const EVENT_TYPES: ReadonlySet<string> = new Set(executionEvent.options.map(({ shape }) => shape.type.value));
const ENDS: ReadonlySet<string> = new Set(["execution-end", "execution-failed"]);

/** What began stays with the server: `close()` ends it. */
export class RemoteExecution {
  readonly #client: ServerClient;
  readonly #path: string;
  readonly #first: AsyncIterable<StreamedEvent>;
  #isOver = false;
  #closing: Promise<void> | undefined;

  /** Throws what the client throws. */
  static async start(client: ServerClient, sessionId: string, body: object): Promise<RemoteExecution> {
    const { headers, events } = await client.stream("POST", `/v1/sessions/${encodeURIComponent(sessionId)}/execute`, {
      json: body,
      headers: { "idempotency-key": randomUUID() },
    });
    return new RemoteExecution(client, `/v1/executions/${headers.get("execution-id") ?? ""}`, events);
  }

  private constructor(client: ServerClient, path: string, first: AsyncIterable<StreamedEvent>) {
    this.#client = client;
    this.#path = path;
    this.#first = first;
  }

  /** To be iterated once. Ends with `execution-end`, or throws where there will be none. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExecutionEvent> {
    const events = lastingEvents(this.#client, `${this.#path}/events`, this.#first, {
      isEnd: (type) => ENDS.has(type),
      whyOver: () => this.#whyOver(),
    });
    for await (const streamed of events) {
      this.#isOver = ENDS.has(streamed.type);
      const event = parseEvent(streamed);
      if (event !== undefined) yield event;
      if (this.#isOver) return;
    }
  }

  /** As Ctrl-C would. What becomes of it is in the events. */
  async interrupt(): Promise<void> {
    await this.#client.tell("POST", `${this.#path}/cancel`);
  }

  /** A line for code that waits; null is the end of input. Nothing happens where another was faster. */
  async answer(line: string | null): Promise<void> {
    try {
      await this.#client.tell("POST", `${this.#path}/stdin`, { json: { text: line } });
    } catch (error) {
      if (!(error instanceof ServerProblem && error.status === 409)) throw error;
    }
  }

  async output(of: OutputStream, offset: number): Promise<{ readonly bytes: Buffer; readonly nextOffset: number }> {
    const { bytes, headers } = await this.#client.bytes(`${this.#path}/output?stream=${of}&offset=${offset}`);
    return { bytes, nextOffset: Number(headers.get("next-offset") ?? offset + bytes.length) };
  }

  /** Interrupts it where it goes on. Never throws, and does not wait for long. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#closing ??= this.#client
      .tell("POST", `${this.#path}/cancel`, { signal: AbortSignal.timeout(CLOSE_MS) })
      .catch(() => {});
    await this.#closing;
  }

  /** A stream that ended without an end: the session was closed, perhaps. */
  async #whyOver(): Promise<string | undefined> {
    const shown = await this.#client.ask("GET", this.#path, execution.pick({ state: true, result: true }));
    if (shown.state !== "ended" || shown.result !== null) return undefined;
    this.#isOver = true;
    return "the session ended before the code did";
  }
}

/** Undefined: it is nothing for us. */
function parseEvent({ type, data }: StreamedEvent): ExecutionEvent | undefined {
  if (type === "server-end") throw new Error("the server ended before the code did");
  if (type === "execution-failed") throw new ServerProblem(executionFailed.parse(data).problem);
  return EVENT_TYPES.has(type) ? executionEvent.parse(data) : undefined;
}
