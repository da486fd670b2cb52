// How much a model may be shown at once, where its window is small.

import type { Strategy } from "../../protocol/strategy/strategy.ts";

/** Of code and data; prose has more. */
const CHARACTERS_PER_TOKEN = 3;
const LEAST = 200;
const LEAST_CONTEXT = 500;

/** `window`: in tokens. Undefined: not known. */
export function fitWindow(
  observations: Strategy["observations"],
  window: number | undefined,
): Strategy["observations"] {
  const { windowShare, characters, errorCharacters, contextCharacters } = observations;
  if (window === undefined || windowShare === 0) return observations;
  const most = Math.floor(window * windowShare * CHARACTERS_PER_TOKEN);
  return {
    ...observations,
    characters: Math.min(characters, Math.max(LEAST, most)),
    errorCharacters: Math.min(errorCharacters, Math.max(LEAST, most)),
    contextCharacters: Math.min(contextCharacters, Math.max(LEAST_CONTEXT, most)),
  };
}
