// HTTP to a provider, watched: how long it is silent, how much it sends, and that it is a stream of events at all.
//
// One watch for one call. It ends the request by aborting the call's controller with the fault as the reason.

import { BackendConnectionError } from "../../errors.ts";
import { tellable } from "./faults.ts";
import type { Speaker } from "./faults.ts";
import type { HTTPClient } from "./http-client.ts";

export interface TimeLimits {
  /** Silence before the answer begins; a model that reasons may be silent for long. At most 300 s, where Node gives up. Default: 120 s. */
  readonly firstByteMs: number;
  /** Silence after it has begun. Default: 60 s. */
  readonly betweenBytesMs: number;
  /** The whole call: some providers send a sign of life for ever. Default: 30 minutes. */
  readonly totalMs: number;
}

const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** Of what is no answer. */
const MAX_OTHER_BYTES = 64 * 1024;

export class Watch {
  readonly #controller: AbortController;
  readonly #speaker: Speaker;
  readonly #limits: TimeLimits;
  readonly #total: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  #isAnswering = false;
  #bytes = 0;

  constructor(controller: AbortController, speaker: Speaker, limits: TimeLimits) {
    this.#controller = controller;
    this.#speaker = speaker;
    this.#limits = limits;
    this.#silence = this.#endAfter(limits.firstByteMs, "nothing came");
    this.#total = this.#endAfter(limits.totalMs, "it was not complete");
  }

  /** The first part of the answer is there: from now on the shorter limit holds. */
  answering(): void {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    clearTimeout(this.#silence);
    this.#silence = this.#endAfter(this.#limits.betweenBytesMs, "nothing more came");
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
  }

  /** In place of the global one. A redirect is not followed: it would take the key to another host. */
  async fetch(client: HTTPClient, ...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input);
    const response = await client.fetch(url, init ?? {});
    this.#silence.refresh();
    if (response.body === null) return response;
    if (!response.ok) return new Response(await beginningOf(response.body), response);
    const type = response.headers.get("content-type") ?? "";
    if (/^(application\/json|text\/html)/i.test(type)) throw this.#notAStream(type, await beginningOf(response.body));
    return response;
  }

  /** So many bytes of the answer came. */
  received(bytes: number): void {
    this.#silence.refresh();
    this.#bytes += bytes;
    if (this.#bytes > MAX_ANSWER_BYTES) this.#end("malformed", `it has more than ${MAX_ANSWER_BYTES} bytes`, false);
  }

  /** A page in place of an answer: most often the address is wrong. */
  #notAStream(type: string, beginning: Buffer): BackendConnectionError {
    const text = tellable(beginning.toString("utf8"), this.#speaker.secrets);
    return this.#fault("malformed", `not a stream of events but ${tellable(type, [])}: ${text}`, false);
  }

  #endAfter(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => this.#end("timeout", `${what} within ${ms / 1000} s`, true), ms);
  }

  #end(fault: "timeout" | "malformed", why: string, retryable: boolean): void {
    this.#controller.abort(this.#fault(fault, why, retryable));
  }

  #fault(fault: "timeout" | "malformed", why: string, retryable: boolean): BackendConnectionError {
    const { backend } = this.#speaker;
    return new BackendConnectionError({ backend, fault, why, retryable });
  }
}

/** As much as an error can need; the rest is not waited for. */
async function beginningOf(body: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < MAX_OTHER_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.length;
  }
  await reader.cancel();
  return Buffer.concat(chunks).subarray(0, MAX_OTHER_BYTES);
}
