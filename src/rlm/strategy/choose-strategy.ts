// Which shipped strategy a model has by default: by its name and by where it runs.

import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { strategies } from "./strategies.ts";

export interface ModelLocation {
  readonly model: string;
  /** The name of its backend. */
  readonly backend: string;
  /** The address of the backend. Undefined: the provider's own. */
  readonly baseUrl?: string | undefined;
}

/** Large models and their small siblings; also behind a proxy on this machine. */
const FAMILY =
  /(?:^|[^a-z])(?:gpt-[3-9]|o[1-9](?![\d.]*b)|claude|gemini|grok|deepseek-(?:v\d|chat|reasoner)|kimi|nova)/i;
/** `gpt-5-mini`, `claude-haiku-4-5`, `gemini-2.5-flash-lite`. */
const SMALL_WORD = /(?:^|[^a-z])(?:mini|nano|haiku|lite|small|tiny|micro|ministral|phi)(?:[^a-z]|$)/i;
/** In billions of parameters; all of a mixture of experts: `qwen3-30b-a3b`. */
const SIZE = /(?:^|[^a-z\d.])(\d+(?:\.\d+)?)b(?:[^a-z\d]|$)/i;
const SMALL_BILLIONS = 14;

export function chooseStrategy({ model, backend, baseUrl }: ModelLocation): Strategy {
  if (backend === "scripted") return strategies.frontier;
  const isHere = backend === "ollama" || (baseUrl !== undefined && isLoopback(baseUrl));
  if (isHere && !FAMILY.test(model)) return strategies.local;
  const isSmall = SMALL_WORD.test(model) || Number(SIZE.exec(model)?.[1]) <= SMALL_BILLIONS;
  return isSmall ? strategies.small : strategies.frontier;
}

function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
