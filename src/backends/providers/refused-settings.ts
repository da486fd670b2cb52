// What a model refuses, learned from its errors: settings that it does not have, and more output tokens than it can write.

import type { BackendConnectionError } from "../../errors.ts";
import type { BackendRequest } from "../backend.ts";

type Setting = "temperature" | "reasoningEffort" | "schema";

interface Learned {
  readonly refused: ReadonlySet<Setting>;
  readonly maxTokens: number;
}

const NOTHING: Learned = { refused: new Set(), maxTokens: Infinity };
const MAX_MODELS = 1000;

const REFUSALS: Readonly<Record<Setting, (message: string) => boolean>> = {
  temperature: (message) => /temperature/i.test(message),
  // A wrong value is a mistake of the caller; only a model without the setting goes without it.
  reasoningEffort: (message) => /effort/i.test(message) && !/value|valid|one of|should be|must be/i.test(message),
  schema: (message) =>
    /response_?format|json_?schema|output_(config|format)|text\.format|structured output/i.test(message),
};

export class RefusedSettings {
  readonly #byModel = new Map<string, Learned>();

  /** The request without what its model refuses. */
  adapt(request: BackendRequest): BackendRequest {
    const learned = this.#byModel.get(request.model);
    if (learned === undefined) return request;
    const adapted: { -readonly [Field in keyof BackendRequest]: BackendRequest[Field] } = { ...request };
    for (const setting of learned.refused) delete adapted[setting];
    if (adapted.maxTokens !== undefined) adapted.maxTokens = Math.min(adapted.maxTokens, learned.maxTokens);
    return adapted;
  }

  /** True: the error refuses something that was sent, so the request is worth sending once more without it. */
  learn(sent: BackendRequest, { fault, status, message }: BackendConnectionError): boolean {
    if (fault !== "bad-request" || status === 404) return false;
    const { refused, maxTokens } = this.#byModel.get(sent.model) ?? NOTHING;
    const settings = Object.keys(REFUSALS) as Setting[];
    const setting = settings.find((name) => sent[name] !== undefined && REFUSALS[name](message));
    const limit = toMaxTokens(message);
    if (setting !== undefined) this.#remember(sent.model, { refused: new Set([...refused, setting]), maxTokens });
    else if (limit < (sent.maxTokens ?? 0)) this.#remember(sent.model, { refused, maxTokens: limit });
    else return false;
    return true;
  }

  #remember(model: string, learned: Learned): void {
    if (this.#byModel.size >= MAX_MODELS) this.#byModel.clear();
    this.#byModel.set(model, learned);
  }
}

/** In the words of Anthropic and of OpenAI. */
function toMaxTokens(message: string): number {
  const limit = /max_tokens: \d+ > (\d+)|supports at most (\d+) completion tokens/.exec(message);
  return limit === null ? Infinity : Number(limit[1] ?? limit[2]);
}
