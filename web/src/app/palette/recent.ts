// What was picked last, so that it comes first the next time. Kept on this machine.

const KEY = "rlm-recent";
const MAX_KEPT = 12;

export function readRecent(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

export function keepRecent(id: string): void {
  const others = readRecent().filter((kept) => kept !== id);
  localStorage.setItem(KEY, JSON.stringify([id, ...others].slice(0, MAX_KEPT)));
}
