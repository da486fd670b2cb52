// What the tab of the browser says: where one is, the most telling part first.

import { toSafeText } from "../parts/safe-text.ts";
import type { Route } from "../state/route.ts";

const NAMES = { sessions: ["Sessions", "Session"], tasks: ["Tasks", "Task"], runs: ["Runs", "Run"] } as const;

export function toTitle({ place, path, query }: Route): string {
  const [many, one] = NAMES[place];
  const [id, ...rest] = path.map((segment) => toSafeText(segment, { maxCharacters: 80 }));
  if (id === undefined) return [query["compare"] === undefined ? many : "Compare runs", "RLM Runtime"].join(" · ");
  return [...(rest.length > 0 ? [rest.join(" / ")] : []), `${one} ${id}`, "RLM Runtime"].join(" · ");
}
