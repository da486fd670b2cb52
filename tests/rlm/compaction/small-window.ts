// A scripted model that refuses what does not fit into its window, as a provider does.

import type { Backend, BackendRequest, StreamPart } from "../../../src/backends/backend.ts";
import { estimateInputTokens } from "../../../src/backends/estimate-tokens.ts";
import { BackendConnectionError } from "../../../src/errors.ts";
import { ScriptedBackend } from "../../internals.ts";
import type { ScriptFunction } from "../scripting.ts";

export class SmallWindow implements Backend {
  readonly name = "small-window";
  readonly window: number;
  /** The input of each request, refused ones included. */
  readonly tokens: number[] = [];
  /** The messages of each request that was answered. */
  readonly answered: BackendRequest["messages"][] = [];
  readonly #isKnown: boolean;
  readonly #script: ScriptedBackend;

  /** `isKnown`: whether it says how large its window is. */
  constructor(
    window: number,
    { isKnown = true, script }: { readonly isKnown?: boolean; readonly script: ScriptFunction },
  ) {
    this.window = window;
    this.#isKnown = isKnown;
    this.#script = new ScriptedBackend(script);
  }

  factsOf(): { readonly contextWindow?: number } {
    return this.#isKnown ? { contextWindow: this.window } : {};
  }

  async *stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    const tokens = estimateInputTokens(request.messages.map(({ content }) => content));
    this.tokens.push(tokens);
    if (tokens > this.window) {
      const why = `it has ${tokens} tokens, more than ${this.window}`;
      throw new BackendConnectionError({ backend: this.name, fault: "context-too-long", why, retryable: false });
    }
    this.answered.push(request.messages);
    yield* this.#script.stream(request, options);
  }
}
