// An execution in a session of a server. Its events continue when the connection breaks.

import { execution, executionFailed } from "../protocol/api/executions.ts";
import { executionEvent, type ExecutionEvent } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { ServerClient } from "./client.ts";
import type { StreamedEvent } from "./events.ts";
import { ServerProblem } from "./problem.ts";
import { resumeEvents } from "./resume.ts";

const CLOSE_MS = 2_000;

const EVENT_TYPES: ReadonlySet<string> = new Set(executionEvent.options.map(({ shape }) => shape.type.value));
const ENDS: ReadonlySet<string> = new Set(["execution-end", "execution-failed"]);

/** It runs on the server until `close()`. */
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
      headers: { "idempotency-key": crypto.randomUUID() },
    });
    return new RemoteExecution(client, `/v1/executions/${headers.get("execution-id") ?? ""}`, events);
  }

  private constructor(client: ServerClient, path: string, first: AsyncIterable<StreamedEvent>) {
    this.#client = client;
    this.#path = path;
    this.#first = first;
  }

  /** Iterate once. Ends with `execution-end`, or throws if there will be none. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExecutionEvent> {
    const events = resumeEvents(this.#client, `${this.#path}/events`, this.#first, {
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

  /** Like Ctrl-C. The events say how the execution ends. */
  async interrupt(): Promise<void> {
    await this.#client.send("POST", `${this.#path}/cancel`);
  }

  /** A line for code that waits for input; null is the end of input. Ignored if another client answered first. */
  async answer(line: string | null): Promise<void> {
    try {
      await this.#client.send("POST", `${this.#path}/stdin`, { json: { text: line } });
    } catch (error) {
      if (!(error instanceof ServerProblem && error.status === 409)) throw error;
    }
  }

  async output(of: OutputStream, offset: number): Promise<{ readonly bytes: Uint8Array; readonly nextOffset: number }> {
    const { bytes, headers } = await this.#client.bytes(`${this.#path}/output?stream=${of}&offset=${offset}`);
    return { bytes, nextOffset: Number(headers.get("next-offset") ?? offset + bytes.length) };
  }

  /** Interrupts the code if it still runs. Never throws, and waits at most two seconds. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#closing ??= this.#client
      .send("POST", `${this.#path}/cancel`, { signal: AbortSignal.timeout(CLOSE_MS) })
      .catch(() => {});
    await this.#closing;
  }

  /** The stream ended before the execution did: the session may have been closed. */
  async #whyOver(): Promise<string | undefined> {
    const shown = await this.#client.request("GET", this.#path, execution.pick({ state: true, result: true }));
    if (shown.state !== "ended" || shown.result !== null) return undefined;
    this.#isOver = true;
    return "the session ended before the code did";
  }
}

/** Undefined: a type that is ignored. */
function parseEvent({ type, data }: StreamedEvent): ExecutionEvent | undefined {
  if (type === "server-end") throw new Error("the server ended before the code did");
  if (type === "execution-failed") throw new ServerProblem(executionFailed.parse(data).problem);
  return EVENT_TYPES.has(type) ? executionEvent.parse(data) : undefined;
}
