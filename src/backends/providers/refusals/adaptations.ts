// What a backend has learned of its models from refusals, and how it changes its requests accordingly.
//
// A refused request is changed and sent again, a few times at most. What a refusal says of a model holds from then on, so it is paid
// for once. A guess, where the provider names no number, holds once a request was accepted with it. Requests that are in flight at the
// same time learn side by side.

import type { BackendConnectionError } from "../../../errors.ts";
import type { BackendRequest, ModelFacts } from "../../backend.ts";
import { estimateInputTokens } from "../../estimate-tokens.ts";
import { factsOfFamily } from "../../models/model-families.ts";
import type { WireRequest } from "../protocols/wire-protocol.ts";
import { applyQuirks, findQuirk, isAboutSchema, type Quirk } from "./quirks.ts";
import type { Refusal } from "./refusal.ts";
import { readTokenLimits, type TokenLimits } from "./token-limits.ts";

interface Learned {
  readonly quirks: ReadonlySet<Quirk>;
  readonly facts: ModelFacts;
}

const NOTHING: Learned = { quirks: new Set(), facts: {} };
const MAX_MODELS = 1_000;
const MAX_CHANGES = 5;
/** A window with less room than this is too small for the request, unless it asked for less. */
const LEAST_OUTPUT_TOKENS = 256;
/** Where the number is not known, this share of the output tokens is tried next. */
const NEXT_SHARE = 0.25;

export class Adaptations {
  readonly #defaultMaxTokens: number | undefined;
  readonly #byModel = new Map<string, Learned>();

  /** `defaultMaxTokens`: for requests without a limit, where the API demands one. */
  constructor(defaultMaxTokens?: number) {
    this.#defaultMaxTokens = defaultMaxTokens;
  }

  factsOf(model: string): ModelFacts {
    return this.#of(model).facts;
  }

  /** The request as its model takes it, as far as that is known. */
  start(request: BackendRequest): AdaptedRequest {
    return new AdaptedRequest(this, this.#adapt(request));
  }

  learnFacts(model: string, facts: ModelFacts): void {
    const { quirks, facts: known } = this.#of(model);
    this.#remember(model, { quirks, facts: { ...known, ...facts } });
  }

  learnQuirk(model: string, quirk: Quirk): void {
    const { quirks, facts } = this.#of(model);
    this.#remember(model, { quirks: new Set([...quirks, quirk]), facts });
  }

  #adapt(request: BackendRequest): WireRequest {
    const { quirks, facts } = this.#of(request.model);
    const { maxTokens = this.#defaultFor(request.model) } = request;
    const adapted = applyQuirks(quirks, request);
    if (maxTokens === undefined) return adapted;
    return { ...adapted, maxTokens: Math.min(maxTokens, facts.maxOutputTokens ?? Infinity) };
  }

  #defaultFor(model: string): number | undefined {
    if (this.#defaultMaxTokens === undefined) return undefined;
    return Math.min(this.#defaultMaxTokens, factsOfFamily(model).maxOutputTokens ?? Infinity);
  }

  #of(model: string): Learned {
    return this.#byModel.get(model) ?? NOTHING;
  }

  #remember(model: string, learned: Learned): void {
    if (this.#byModel.size >= MAX_MODELS && !this.#byModel.has(model)) this.#byModel.clear();
    this.#byModel.set(model, learned);
  }
}

/** One request on its way, which changes with each refusal. */
export class AdaptedRequest {
  readonly #adaptations: Adaptations;
  #request: WireRequest;
  #changes = 0;
  #isGuess = false;

  constructor(adaptations: Adaptations, request: WireRequest) {
    this.#adaptations = adaptations;
    this.#request = request;
  }

  /** What to send next. */
  get current(): WireRequest {
    return this.#request;
  }

  accepted(): void {
    const { model, maxTokens } = this.#request;
    if (this.#isGuess && maxTokens !== undefined) this.#adaptations.learnFacts(model, { maxOutputTokens: maxTokens });
  }

  /** True: the request was changed, and is worth sending again. */
  refused({ fault, status }: BackendConnectionError, refusal: Refusal): boolean {
    // A chat template that fails is reported as 500, a lack of credit for so many tokens as 402.
    const isRefusal = fault === "bad-request" || fault === "context-too-long" || status === 500 || status === 402;
    if (!isRefusal || status === 404 || this.#changes >= MAX_CHANGES) return false;
    this.#changes += 1;
    if (isAboutSchema(refusal, this.#request)) return this.#leaveOutSchema();
    const limits = readTokenLimits(refusal.text);
    this.#learn(limits);
    return this.#fitInto(limits) || this.#takeQuirk(refusal) || (fault === "bad-request" && this.#guess(refusal));
  }

  #learn({ contextWindow, maxOutputTokens }: TokenLimits): void {
    if (contextWindow !== undefined) this.#adaptations.learnFacts(this.#request.model, { contextWindow });
    if (maxOutputTokens !== undefined) this.#adaptations.learnFacts(this.#request.model, { maxOutputTokens });
  }

  /** Fewer output tokens, so that the request fits. */
  #fitInto(limits: TokenLimits): boolean {
    const named = limits.maxOutputTokens ?? limits.affordableTokens;
    if (named !== undefined) return this.#setMaxTokens(named);
    const room = this.#roomIn(limits);
    const { maxTokens = Infinity } = this.#request;
    return room !== undefined && room >= Math.min(LEAST_OUTPUT_TOKENS, maxTokens) && this.#setMaxTokens(room);
  }

  /** What the window leaves for the answer. Undefined: there is no window in it. */
  #roomIn({ contextWindow, inputTokens, totalTokens, isInputAtLeast = false }: TokenLimits): number | undefined {
    if (contextWindow === undefined) return undefined;
    const { maxTokens, messages } = this.#request;
    if (inputTokens !== undefined && !isInputAtLeast) return contextWindow - inputTokens;
    if (maxTokens === undefined) return undefined;
    if (totalTokens !== undefined && totalTokens > maxTokens) return contextWindow - (totalTokens - maxTokens);
    // Our estimate is mostly too high, so what it leaves is safe.
    const safe = contextWindow - estimateInputTokens(messages.map(({ content }) => content));
    const next = Math.floor(maxTokens * NEXT_SHARE);
    return safe < maxTokens ? Math.max(safe, next) : next;
  }

  /** From this request alone: the answer is checked in any case. */
  #leaveOutSchema(): boolean {
    const { schema: _, ...rest } = this.#request;
    this.#request = rest;
    return true;
  }

  #takeQuirk(refusal: Refusal): boolean {
    const quirk = findQuirk(refusal, this.#request);
    if (quirk === undefined) return false;
    this.#adaptations.learnQuirk(this.#request.model, quirk);
    this.#request = quirk.adapt(this.#request);
    return true;
  }

  /** The number of output tokens is refused, and it is not said which one would be accepted. */
  #guess({ text }: Refusal): boolean {
    const { maxTokens } = this.#request;
    const isAboutOutput =
      /max(imum)?[ _]?(completion_|output_|new_)?tokens/i.test(text) &&
      /large|high|exceed|greater|less|maximum|limit|range|reduce|invalid/i.test(text);
    if (maxTokens === undefined || !isAboutOutput) return false;
    this.#isGuess = this.#setMaxTokens(Math.floor(maxTokens * NEXT_SHARE));
    return this.#isGuess;
  }

  #setMaxTokens(tokens: number): boolean {
    const { maxTokens = Infinity } = this.#request;
    if (tokens < 1 || tokens >= maxTokens) return false;
    this.#request = { ...this.#request, maxTokens: tokens };
    return true;
  }
}
