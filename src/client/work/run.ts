// A recursive run on a server.

import {
  checkBlobHash,
  checkRunEventPageOptions,
  checkRunFollowOptions,
  checkRunSearch,
} from "../../api/checks/check-calls.ts";
import type { Run, RunEventPageOptions, RunFollowOptions, RunResult, RunSearchOptions } from "../../api/run.ts";
import type { Signal } from "../../api/web-types.ts";
import { RunNotFoundError, ServerConnectionError, ServerRefusedError } from "../../errors.ts";
import type { RunId } from "../../protocol/ids.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunEventPage, RunOutline, RunSearchAnswer } from "../../protocol/run-outline/run-outline.ts";
import type { RunInfo } from "../../protocol/runs.ts";
import type { RequestBody } from "../net/body.ts";
import { toSegment } from "../net/ids.ts";
import { toError } from "../net/problem.ts";
import type { Request, Requests } from "../net/requests.ts";
import type { Check } from "../shapes/check.ts";
import { run, runEvent, runEventPage, runOutline, runSearchAnswer, type RunView } from "../shapes/runs.ts";
import { Engine, Work, type WorkKind } from "./work.ts";

/** How long whoever aborted waits for the server. */
const CANCEL_MS = 2_000;

/** How to start one. The id is part of the body. */
export interface RunStart {
  readonly body: RequestBody | Promise<RequestBody>;
  readonly signal: Signal | undefined;
}

export class RemoteRun<Data = unknown> extends Work<RunResult<Data>, RunEvent> implements Run<Data> {
  readonly id: RunId;
  readonly #engine: Engine<RunResult<Data>, RunEvent, RunView>;

  /** Found by its id, or started. */
  constructor(requests: Requests, id: string, start?: RunStart) {
    const engine = new Engine(requests, runKind<Data>(id));
    super(engine);
    this.id = id as RunId;
    this.#engine = engine;
    if (start !== undefined) this.#start(start);
  }

  get [Symbol.toStringTag](): string {
    return "Run";
  }

  #start({ body, signal }: RunStart): void {
    this.#engine.begin(async () => {
      signal?.throwIfAborted();
      await this.#send(await body, signal);
      return undefined;
    });
    if (signal !== undefined) this.#engine.cancelWith(signal, () => this.cancel());
  }

  /** Aborting ends the sending of a stream: it may take long, and nothing is started before its end. */
  async #send(body: RequestBody, signal: Signal | undefined): Promise<void> {
    if (!body.isStream) return this.#engine.requests.send("POST", "/v1/runs", { body, isUpload: true });
    try {
      await this.#engine.requests.send("POST", "/v1/runs", { body, isUpload: true, signal });
    } catch (error) {
      if (signal?.aborted === true) await this.#cancelAccepted();
      else if (await this.#wasAccepted(error)) return;
      throw error;
    }
  }

  /** A stream cannot be sent again, but its response may be all that was lost. Otherwise the run would go on, and nobody know of it. */
  async #wasAccepted(error: unknown): Promise<boolean> {
    const { requests } = this.#engine;
    if (!(error instanceof ServerConnectionError) || error.fault !== "connection") return false;
    return requests.json("GET", `/v1/runs/${toSegment(this.id)}`, run, { isLarge: true }).then(
      () => true,
      () => false,
    );
  }

  /** The server may have accepted it just before. Most often there is none. */
  async #cancelAccepted(): Promise<void> {
    const signal = AbortSignal.timeout(CANCEL_MS);
    await this.#engine.requests.send("POST", `/v1/runs/${toSegment(this.id)}/cancel`, { signal }).catch(() => {});
  }

  async info(): Promise<RunInfo> {
    const { result: _result, problem: _problem, ...info } = await this.#engine.view();
    return info;
  }

  async outline(): Promise<RunOutline> {
    return this.#get("outline", runOutline);
  }

  eventPage(options: RunEventPageOptions = {}): Promise<RunEventPage> {
    checkRunEventPageOptions(options);
    return this.#get("events/page", runEventPage, { query: { ...options } });
  }

  search(text: string, options: RunSearchOptions = {}): Promise<RunSearchAnswer> {
    checkRunSearch(text, options);
    const { signal, ...range } = options;
    return this.#get("search", runSearchAnswer, { query: { text, ...range }, signal });
  }

  follow(options: RunFollowOptions = {}): AsyncIterable<RunEvent> {
    checkRunFollowOptions(options);
    return this.#engine.follow(String(options.after ?? 0), options.signal);
  }

  blob(hash: string): Promise<Uint8Array> {
    checkBlobHash(hash);
    return this.#blob(hash);
  }

  async cancel(): Promise<void> {
    await this.#engine.requests.send("POST", `${await this.#engine.path()}/cancel`);
  }

  async #get<Value>(name: string, check: Check<Value>, request: Request = {}): Promise<Value> {
    const path = `${await this.#engine.path()}/${name}`;
    return this.#engine.requests.json("GET", path, check, { ...request, isLarge: true });
  }

  async #blob(hash: string): Promise<Uint8Array> {
    const path = `${await this.#engine.path()}/blobs/${hash}`;
    return (await this.#engine.requests.bytes("GET", path, { isLarge: true })).bytes;
  }
}

function runKind<Data>(id: string): WorkKind<RunResult<Data>, RunEvent, RunView> {
  const segment = toSegment(id);
  return {
    path: segment && `/v1/runs/${segment}`,
    notFound: () => new RunNotFoundError({ runId: id, why: "there is none" }),
    view: run,
    outcomeOf: ({ status, result, problem }) => {
      if (problem !== undefined) return { error: toError(problem) };
      if (result !== null) return { result: result as RunResult<Data> };
      return status === "broken" ? { error: broken(id) } : undefined;
    },
    event: runEvent,
    ends: new Set(["run-end", "run-broken"]),
    // A run that rejects has a result in its events, too.
    mayReject: true,
    outcomeIn: () => undefined,
  };
}

function broken(id: string): Error {
  const detail = `Cannot get the result of run '${id}': its process is gone, and it has no end`;
  return new ServerRefusedError({ status: 410, problem: "OUTCOME_LOST", detail });
}
