// The three places of the page.

import type { IconName } from "../parts/icon.tsx";
import type { Place } from "../state/router.ts";

export const PLACES: readonly {
  readonly place: Place;
  readonly name: string;
  readonly icon: IconName;
  readonly keys: string;
}[] = [
  { place: "sessions", name: "Sessions", icon: "sessions", keys: "g s" },
  { place: "tasks", name: "Tasks", icon: "tasks", keys: "g t" },
  { place: "runs", name: "Runs", icon: "runs", keys: "g r" },
];
