// Makes room in the conversation of a node when it nears the model's window, or when a provider has refused it as too long.
//
// Whether it is near is judged by the texts alone, and not by what providers report: a run that is repeated from the cache has to make
// the same requests.

import { estimateInputTokens } from "../../backends/estimate-tokens.ts";
import type { ModelFacts } from "../../backends/backend.ts";
import type { Strategy } from "../../protocol/strategy/strategy.ts";
import type { NodeSession } from "../session/node-session.ts";
import type { Conversation } from "./conversation.ts";
import { toSummary } from "./summary.ts";

export interface Compaction {
  /** Steps that are in the summary. */
  readonly replaced: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

interface CompactorOptions {
  readonly strategy: Pick<Strategy, "compaction" | "calls">;
  readonly session: Pick<NodeSession, "remember" | "describeVariables">;
  readonly factsOf: () => Promise<ModelFacts>;
  readonly onCompaction: (compaction: Compaction) => void;
}

/** Of the window, for an answer; less where the strategy asks for shorter ones. */
const ANSWER_SHARE = 0.25;
/** Of the window, for the summary. In characters per token of it. */
const SUMMARY_SHARE = 0.15;
const CHARACTERS_PER_TOKEN = 3;

export class Compactor {
  readonly #conversation: Conversation;
  readonly #options: CompactorOptions;

  constructor(conversation: Conversation, options: CompactorOptions) {
    this.#conversation = conversation;
    this.#options = options;
  }

  /** Call before each step. */
  async beforeStep(): Promise<void> {
    const { compaction, calls } = this.#options.strategy;
    const { contextWindow } = await this.#options.factsOf();
    if (contextWindow === undefined || compaction.atWindowShare === 0) return;
    const answer = Math.min(calls.stepTokens, contextWindow * ANSWER_SHARE);
    const most = Math.min(contextWindow * compaction.atWindowShare, contextWindow - answer);
    for (const kept of [compaction.keepSteps, 1]) {
      if (this.#tokens() <= most) return;
      await this.#compact(kept, contextWindow);
    }
  }

  /** Call where the conversation was refused as too long. False: there is nothing left to replace. */
  async afterRefusal(): Promise<boolean> {
    if (this.#options.strategy.compaction.atWindowShare === 0) return false;
    return this.#compact(1, (await this.#options.factsOf()).contextWindow);
  }

  async #compact(kept: number, window: number | undefined): Promise<boolean> {
    const conversation = this.#conversation;
    const { session, strategy, onCompaction } = this.#options;
    const { steps, replaced } = conversation;
    const count = steps.length - Math.max(1, kept);
    if (count <= replaced) return false;
    const tokensBefore = this.#tokens();
    const fits = window === undefined ? Infinity : Math.floor(window * SUMMARY_SHARE * CHARACTERS_PER_TOKEN);
    const maxCharacters = Math.min(strategy.compaction.characters, fits);
    const areKept = await session.remember(steps.slice(replaced, count));
    const variables = await session.describeVariables(maxCharacters);
    conversation.replace(count, toSummary(steps.slice(0, count), { variables, maxCharacters, areKept }));
    onCompaction({ replaced: count, tokensBefore, tokensAfter: this.#tokens() });
    return true;
  }

  #tokens(): number {
    return estimateInputTokens(this.#conversation.messages.map(({ content }) => content));
  }
}
