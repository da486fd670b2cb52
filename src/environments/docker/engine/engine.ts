// A client of the Docker Engine API, as much of it as we need, on node:http. Podman speaks it, too.
//
// Its connections do not keep the host alive. What the engine says is checked where it is used; its size has a bound.

import { Agent as HTTPAgent, request as requestHTTP, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as TLSAgent, request as requestTLS } from "node:https";
import type { Socket } from "node:net";
import { addAbortSignal, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseJSON } from "../../../util/parse-json.ts";
import type { EngineAddress } from "./address.ts";
import { connectionFailure, EngineError, noEngine } from "./errors.ts";

/** The oldest that has everything; engines since 2018 have it. */
const OLDEST_API = 1.38;
const NEWEST_API = 1.47;
const MAX_ANSWER = 16 * 1024 * 1024;
const MAX_MESSAGE = 500;

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly json?: unknown;
  /** A tar archive. */
  readonly body?: Buffer | Readable;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export class Engine {
  readonly address: EngineAddress;
  readonly #agent: HTTPAgent;
  #api: Promise<string> | undefined;

  constructor(address: EngineAddress) {
    this.address = address;
    const { target } = address;
    const options = { keepAlive: true, maxSockets: 16, timeout: 0 };
    this.#agent =
      "host" in target && target.tls !== null ? new TLSAgent({ ...options, ...target.tls }) : new HTTPAgent(options);
  }

  /** Whether files of this machine may be seen by the engine. */
  get isSocket(): boolean {
    return "socketPath" in this.address.target;
  }

  /** The answer as JSON, or null without one. Throws EngineError or EnvironmentUnavailableError. */
  async call(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const answer = await this.open(method, path, options);
    const text = await readAll(answer);
    return text === "" ? null : parseAnswer(text);
  }

  /** The answer as it arrives. */
  async open(method: string, path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const api = await this.#findAPI();
    return this.#send(method, `/${api}${path}`, options);
  }

  /** Messages of a request that takes long: lines of JSON. */
  async *messages(method: string, path: string, options: RequestOptions = {}): AsyncGenerator<Record<string, unknown>> {
    const answer = await this.open(method, path, options);
    if (options.signal !== undefined) addAbortSignal(options.signal, answer);
    let rest = "";
    for await (const chunk of untilAborted(answer, options.signal)) {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_ANSWER) throw new EngineError(500, "the engine sent a message without an end");
      for (const line of lines) if (line.trim() !== "") yield parseAnswer(line) as Record<string, unknown>;
    }
    if (rest.trim() !== "") yield parseAnswer(rest) as Record<string, unknown>;
  }

  /** The streams of a container: both directions on one connection. */
  async attach(id: string): Promise<Socket> {
    const api = await this.#findAPI();
    const request = this.#request("POST", `/${api}/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`, {
      Connection: "Upgrade",
      Upgrade: "tcp",
    });
    return new Promise((resolve, reject) => {
      request.once("upgrade", (_, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        socket.unref();
        resolve(socket);
      });
      request.once("response", (response) => void toError(response).then(reject, reject));
      request.once("error", (error) => reject(connectionFailure(this.address.text, error)));
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #findAPI(): Promise<string> {
    this.#api ??= this.#askForAPI().catch((error: unknown) => {
      this.#api = undefined;
      throw error;
    });
    return this.#api;
  }

  async #askForAPI(): Promise<string> {
    const answer = await this.#send("GET", "/_ping", {});
    await readAll(answer);
    const version = Number.parseFloat(String(answer.headers["api-version"] ?? ""));
    if (!(toNumber(version) >= toNumber(OLDEST_API))) {
      throw noEngine(`what answers at ${this.address.text} is no Docker engine of API ${OLDEST_API} or newer`);
    }
    return `v${Math.min(version, NEWEST_API)}`;
  }

  async #send(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
    const { query = {}, json, body, headers = {}, signal } = options;
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
    );
    const end = (): void => void request.destroy(new Error("aborted"));
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request.once("response", resolve);
        request.once("error", (error) => reject(connectionFailure(this.address.text, error)));
        if (data instanceof Readable) pipeline(data, request).catch(reject);
        else request.end(data);
      });
      const status = response.statusCode ?? 500;
      if (status >= 400) throw await toError(response);
      return response;
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  #request(method: string, path: string, headers: Readonly<Record<string, string>>): ClientRequest {
    const { target } = this.address;
    const options = { method, path, headers: { Host: "docker", ...headers }, agent: this.#agent };
    const request =
      "socketPath" in target
        ? requestHTTP({ ...options, socketPath: target.socketPath })
        : target.tls === null
          ? requestHTTP({ ...options, host: target.host, port: target.port })
          : requestTLS({ ...options, ...target.tls, host: target.host, port: target.port, servername: target.host });
    request.on("socket", (socket) => socket.unref());
    return request;
  }
}

/** A stream that its signal ends rejects with the reason. */
async function* untilAborted(answer: IncomingMessage, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** 1.9 is older than 1.41. */
function toNumber(version: number): number {
  const [major = "0", minor = "0"] = String(version).split(".");
  return Number(major) * 1000 + Number(minor);
}

async function toError(response: IncomingMessage): Promise<EngineError> {
  const text = await readAll(response).catch(() => "");
  const answer = tryParse(text) as { readonly message?: unknown } | undefined;
  const message = typeof answer?.message === "string" ? answer.message : text || `status ${response.statusCode}`;
  return new EngineError(response.statusCode ?? 500, message.trim().slice(0, MAX_MESSAGE));
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of answer) {
    total += (chunk as Buffer).length;
    if (total > MAX_ANSWER) throw new EngineError(500, "the engine's answer is too long");
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

function parseAnswer(text: string): unknown {
  const value = tryParse(text);
  if (value === undefined) throw new EngineError(500, "the engine's answer is no JSON");
  return value;
}

function tryParse(text: string): unknown {
  try {
    return parseJSON(text);
  } catch {
    return undefined;
  }
}
