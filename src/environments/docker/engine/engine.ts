// A client of the Docker Engine API, as much of it as we need, on node:http.
//
// Every request has a deadline, unless it lasts as long as what it waits for. Connections do not keep the host alive. What the engine says is
// checked where it is used; its size has a bound.

import {
  Agent as HTTPAgent,
  request as requestHTTP,
  type AgentOptions,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as TLSAgent, request as requestTLS } from "node:https";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RLMError } from "../../../errors.ts";
import { onAbort } from "../../../util/async/on-abort.ts";
import { orAborted } from "../../../util/async/or-aborted.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import type { EngineAddress } from "./address.ts";
import { connectionFailure, EngineError, noAnswer, noEngine } from "./errors.ts";
import { PendingRemovals } from "./pending-removals.ts";

/** The oldest that has everything; engines since 2018 have it. */
const OLDEST_API = "1.38";
const NEWEST_API = "1.47";
const MAX_ANSWER = 16 * 1024 * 1024;
const MAX_MESSAGE = 500;
const PING_LIMIT_MS = 20_000;
const CALL_LIMIT_MS = 60_000;
/** Between two messages of a request that takes long. */
const SILENCE_LIMIT_MS = 300_000;

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly json?: unknown;
  /** A tar archive. */
  readonly body?: Buffer | Readable;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its reason reaches the caller, also while the answer is read. */
  readonly signal?: AbortSignal | undefined;
  /** For the whole answer. `Infinity`: it may take as long as a container lives. Default: a minute. */
  readonly limitMs?: number;
}

interface Sent extends RequestOptions {
  /** Without a byte in either direction. */
  readonly silenceMs?: number;
}

export class Engine {
  readonly address: EngineAddress;
  readonly pendingRemovals = new PendingRemovals();
  readonly #agent: HTTPAgent;
  /** Requests without a deadline have connections of their own, so that others never wait for theirs. */
  readonly #endless: HTTPAgent;
  #api: Promise<string> | undefined;

  constructor(address: EngineAddress) {
    this.address = address;
    const { target } = address;
    const tls = "host" in target ? target.tls : null;
    const open = (options: AgentOptions): HTTPAgent =>
      tls === null ? new HTTPAgent(options) : new TLSAgent({ ...options, ...tls });
    this.#agent = open({ keepAlive: true, maxSockets: 16, timeout: 0 });
    this.#endless = open({ keepAlive: false, timeout: 0 });
  }

  /** Whether files of this machine may be seen by the engine. */
  get isUnixSocket(): boolean {
    return "socketPath" in this.address.target;
  }

  /** The answer as JSON, or null without one. Throws EngineError or EnvironmentUnavailableError. */
  async call(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const text = await this.#readAll(await this.open(method, path, options));
    return text === "" ? null : parseAnswer(text);
  }

  /** The answer as it arrives. */
  async open(method: string, path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const api = await this.#findAPI(options.signal);
    return this.#send(method, `/${api}${path}`, options);
  }

  /** Messages of a request that takes long: lines of JSON objects. It may take as long as there are some. */
  async *messages(method: string, path: string, options: RequestOptions = {}): AsyncGenerator<Record<string, unknown>> {
    const api = await this.#findAPI(options.signal);
    const sent = { limitMs: Infinity, silenceMs: SILENCE_LIMIT_MS, ...options };
    const answer = await this.#send(method, `/${api}${path}`, sent);
    let rest = "";
    for await (const chunk of this.#chunks(answer)) {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_ANSWER) throw new EngineError(500, "the engine sent a message over 16 MiB");
      for (const line of lines) if (line.trim() !== "") yield parseMessage(line);
    }
    if (rest.trim() !== "") yield parseMessage(rest);
  }

  /** The streams of a container: both directions on one connection. */
  async attach(id: string, signal?: AbortSignal): Promise<Socket> {
    const api = await this.#findAPI(signal);
    const path = `/${api}/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
    const headers = { Connection: "Upgrade", Upgrade: "tcp" };
    const request = this.#request("POST", path, headers, this.#endless);
    const unbind = this.#bind(request, { signal });
    return new Promise<Socket>((resolve, reject) => {
      request.once("upgrade", (_, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        socket.unref();
        resolve(socket);
      });
      request.once("response", (response) => void this.#toError(response).then(reject, reject));
      request.once("error", (error) => reject(this.#toFailure(error)));
      request.end();
    }).finally(unbind);
  }

  close(): void {
    this.#agent.destroy();
    this.#endless.destroy();
  }

  #findAPI(signal: AbortSignal | undefined): Promise<string> {
    this.#api ??= this.#askForAPI().catch((error: unknown) => {
      this.#api = undefined;
      throw error;
    });
    return signal === undefined ? this.#api : orAborted(this.#api, signal);
  }

  async #askForAPI(): Promise<string> {
    const answer = await this.#send("GET", "/_ping", { limitMs: PING_LIMIT_MS });
    await this.#readAll(answer);
    const version = String(answer.headers["api-version"] ?? "");
    if (!/^\d{1,3}\.\d{1,3}$/.test(version) || isOlder(version, OLDEST_API)) {
      throw noEngine(`the server at ${this.address.text} is not a Docker engine with API ${OLDEST_API} or newer`);
    }
    return `v${isOlder(version, NEWEST_API) ? version : NEWEST_API}`;
  }

  async #send(method: string, path: string, options: Sent): Promise<IncomingMessage> {
    const { query = {}, json, body, headers = {}, limitMs } = options;
    options.signal?.throwIfAborted();
    const pairs = Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)] satisfies [string, string]],
    );
    const text = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
    const data = text ?? body;
    const request = this.#request(
      method,
      pairs.length > 0 ? `${path}?${new URLSearchParams(pairs).toString()}` : path,
      {
        ...(text !== undefined && { "Content-Type": "application/json" }),
        ...(body !== undefined && { "Content-Type": "application/x-tar" }),
        ...(Buffer.isBuffer(data) ? { "Content-Length": String(data.length) } : {}),
        ...headers,
      },
      limitMs === Infinity ? this.#endless : this.#agent,
    );
    const unbind = this.#bind(request, options);
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request.once("response", resolve);
        request.once("error", (error) => reject(this.#toFailure(error)));
        if (data instanceof Readable) pipeline(data, request).catch((error: Error) => reject(this.#toFailure(error)));
        else request.end(data);
      });
      response.once("close", unbind);
      if ((response.statusCode ?? 500) >= 400) throw await this.#toError(response);
      return response;
    } catch (error) {
      unbind();
      throw error;
    }
  }

  /** Ends the request, or the answer that is being read, when the signal is aborted or its time is up. Returns what lifts that. */
  #bind(request: ClientRequest, { signal, limitMs = CALL_LIMIT_MS, silenceMs }: Sent): () => void {
    let answer: IncomingMessage | undefined;
    request.once("response", (response) => {
      answer = response;
    });
    const end = (why: Error): void => void (answer ?? request).destroy(why);
    const late = (ms: number): void => end(noAnswer(this.address.text, ms));
    const unlisten = onAbort(signal, () => end(toReason(signal)));
    const timer = Number.isFinite(limitMs) ? setTimeout(late, limitMs, limitMs).unref() : undefined;
    if (silenceMs !== undefined) request.setTimeout(silenceMs, () => late(silenceMs));
    return () => {
      unlisten();
      clearTimeout(timer);
    };
  }

  #request(method: string, path: string, headers: Readonly<Record<string, string>>, agent: HTTPAgent): ClientRequest {
    const { target } = this.address;
    const options = { method, path, headers: { Host: "docker", ...headers }, agent };
    const request =
      "socketPath" in target
        ? requestHTTP({ ...options, socketPath: target.socketPath })
        : target.tls === null
          ? requestHTTP({ ...options, host: target.host, port: target.port })
          : requestTLS({ ...options, ...target.tls, host: target.host, port: target.port, servername: target.host });
    request.on("socket", (socket) => socket.unref());
    return request;
  }

  async *#chunks(answer: IncomingMessage): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of answer) yield chunk as Buffer;
    } catch (error) {
      throw this.#toFailure(error as Error);
    }
  }

  async #readAll(answer: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let total = 0;
    for await (const chunk of this.#chunks(answer)) {
      total += chunk.length;
      if (total > MAX_ANSWER) throw new EngineError(500, "the engine sent a response over 16 MiB");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }

  async #toError(response: IncomingMessage): Promise<EngineError> {
    const status = response.statusCode ?? 500;
    if (status < 400) {
      response.destroy();
      return new EngineError(500, "the engine did not attach the container's streams");
    }
    const text = await this.#readAll(response);
    const answer = parseJSON(text) as { readonly message?: unknown } | null | undefined;
    const message = typeof answer?.message === "string" ? answer.message : text || `status ${status}`;
    return new EngineError(status, message.trim().slice(0, MAX_MESSAGE));
  }

  /** Why a request got no answer, or only a part of one. */
  #toFailure(error: NodeJS.ErrnoException): Error {
    const isOfSystem = typeof error.code === "string" && !(error instanceof RLMError);
    return isOfSystem ? connectionFailure(this.address.text, error) : error;
  }
}

function toReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** 1.9 is older than 1.40. */
function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = than.split(".").map(Number);
  return major === otherMajor ? minor < otherMinor : major < otherMajor;
}

function parseMessage(line: string): Record<string, unknown> {
  const value = parseAnswer(line);
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new EngineError(500, "the engine sent a message that is not a JSON object");
}

function parseAnswer(text: string): unknown {
  const value = parseJSON(text);
  if (value === undefined) throw new EngineError(500, "the engine sent a response that is not JSON");
  return value;
}
