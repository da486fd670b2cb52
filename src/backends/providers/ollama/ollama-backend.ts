// Ollama: every request says how large the window has to be, as far as the model goes.

import type { IncomingMessage } from "node:http";
import { BackendConnectionError } from "../../../errors.ts";
import { estimateInputTokens } from "../../estimate-tokens.ts";
import type { ModelFacts } from "../../backend.ts";
import { leastTokens } from "../cut-prompts.ts";
import { mergeExtraBody } from "../extra-body.ts";
import { ProviderBackend, type ProviderSettings } from "../provider-backend.ts";
import { ollamaChat } from "../protocols/ollama-chat.ts";
import { toFields, type WireRequest } from "../protocols/wire-protocol.ts";
import type { Exchange } from "../streaming-backend.ts";
import { OllamaWindows } from "./ollama-windows.ts";

/** What chat templates add. */
const TEMPLATE_TOKENS = 128;
/** Room for the answer. A limit on it is mostly far more than it needs, and memory is reserved for the whole window. */
const ANSWER_TOKENS = { default: 4_096, most: 8_192 };

export class OllamaBackend extends ProviderBackend {
  readonly #windows: OllamaWindows;

  constructor(settings: ProviderSettings) {
    super(ollamaChat, settings);
    this.#windows = new OllamaWindows((path, options) => this.fetchJSON(path, options));
  }

  override factsOf(model: string): ModelFacts {
    const facts = super.factsOf(model);
    const contextWindow = Math.min(facts.contextWindow ?? Infinity, this.#windows.largestOf(model) ?? Infinity);
    return { ...facts, ...(Number.isFinite(contextWindow) && { contextWindow }) };
  }

  protected override async send(request: WireRequest, exchange: Exchange): Promise<IncomingMessage> {
    const { model, messages, extraBody, maxTokens = ANSWER_TOKENS.default } = request;
    if (toFields(extraBody?.["options"])["num_ctx"] !== undefined) return super.send(request, exchange);
    const promptTokens = estimateInputTokens(messages.map(({ content }) => content)) + TEMPLATE_TOKENS;
    const size = await this.#windows.sizeFor(model, promptTokens + Math.min(maxTokens, ANSWER_TOKENS.most), exchange);
    this.#check(request);
    const options = size === undefined ? {} : { options: { num_ctx: size } };
    return super.send({ ...request, extraBody: mergeExtraBody(options, extraBody, this.name) }, exchange);
  }

  /** What no window of this model can hold is not sent at all. */
  #check({ model, messages }: WireRequest): void {
    const largest = this.#windows.largestOf(model);
    const tokens = leastTokens(messages);
    if (largest === undefined || tokens <= largest) return;
    const why = `the request is longer than the model's window: it has ${tokens} input tokens or more, and '${model}' has a context length of ${largest}`;
    throw new BackendConnectionError({ backend: this.name, fault: "context-too-long", why, retryable: false });
  }
}
