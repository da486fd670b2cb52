// What every status says of sessions that no tier confines (environments/wasm/seat-belt/).

import type { EnvironmentReport } from "../environments/environment.ts";

/** In place of "a sandbox". */
export const SEAT_BELT = "a seat belt, not a wall";
const WARNING = `sessions run behind ${SEAT_BELT} (sandbox tier seat-belt): 'rlm doctor --env wasm' says why, and how to get a stronger tier`;

/** Without a full stop. Undefined where sessions have a tier, or it is not known yet that they have none. */
export function seatBeltWarning({ tier, expectedTier }: EnvironmentReport): string | undefined {
  return (tier ?? expectedTier) === "seat-belt" ? WARNING : undefined;
}
