// How much more or less the second of two numbers is, in percent of the first.

/** `+12 %`, `−3 %`, `0 %`; `×4.0` where it is more than twice as much; empty where it cannot be said. */
export function formatDelta(from: number | null, to: number | null): string {
  if (from === null || to === null) return "";
  if (from === to) return "0 %";
  if (from === 0) return "new";
  const factor = to / from;
  if (factor > 2) return `×${factor.toFixed(factor < 10 ? 1 : 0)}`;
  const percent = Math.round((factor - 1) * 100);
  return percent < 0 ? `−${-percent} %` : `+${percent} %`;
}
